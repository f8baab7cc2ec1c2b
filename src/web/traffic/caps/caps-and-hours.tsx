/** The caps of an offer or a campaign, with how much of each is used, and its open hours. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { Clock, Gauge, Pencil } from 'lucide-react'
import { useState } from 'react'
import { createCap, deleteCap, listCaps, reopenCap } from '../../../traffic/caps/api.ts'
import { listOffers } from '../../../traffic/offers/api.ts'
import { readCampaignHours, readOfferHours, setOfferHours } from '../../../traffic/open-hours/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { ago, count, moment } from '../../ground/figures/figures.ts'
import { HistoryItem } from '../../ground/history/object-history.tsx'
import { Badge } from '../../ground/ui/badge.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { MenuItem, MenuLine } from '../../ground/ui/menu.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { DeleteItem, RowMenu } from '../../ground/ui/row-menu.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { CapDialog, type Capped, type CapRow } from './cap-dialog.tsx'
import { limitOf } from './limit.ts'
import { type OpenHoursRow, HoursDialog } from './hours-dialog.tsx'
import { DAY_NAMES, timeOf } from './week-grid.tsx'

export function CapsAndHours({ of }: { of: Capped }) {
  const { role } = useActive()
  const [adding, setAdding] = useState(false)
  const caps = useQuery(ask(listCaps, { query: { object_id: of.id, limit: 200 } }))
  return (
    <div className="flex flex-col gap-3">
      <RefusalNote refused={caps.error} />
      {caps.data !== undefined && caps.data.data.length > 0 && (
        <ul aria-label="Caps" className="flex flex-col gap-3">
          {caps.data.data.map(cap => (
            <CapLine key={cap.id} of={of} cap={cap} />
          ))}
        </ul>
      )}
      <HoursLine of={of} />
      <div>
        <Button icon={Gauge} size="sm" reason={reasonAgainst(createCap, role)} onClick={() => setAdding(true)}>
          Add a cap
        </Button>
      </div>
      <CapDialog capped={of} cap={undefined} open={adding} onClose={() => setAdding(false)} />
    </div>
  )
}

function CapLine({ of, cap }: { of: Capped; cap: CapRow }) {
  const [editing, setEditing] = useState(false)
  const { role } = useActive()
  const refresh = useRefresh()
  const { id, state, used, limit } = cap
  const reopen = useMutation({
    mutationFn: () => call(reopenCap, { params: { id } }),
    onSuccess: async () => {
      await refresh(listCaps)
      notify('The cap is open again', 'It does not limit visitors until its period ends.')
    },
    onError: refused => notify('The cap is unchanged', refused.message),
  })
  const isReached = state === 'reached'
  return (
    <li className="rounded-md border border-line px-3 py-2.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-medium">{limitOf(cap)}</span>
        <Badge tone={!cap.active ? 'plain' : isReached ? 'warn' : 'good'}>
          {!cap.active ? 'Off' : isReached ? 'Reached' : cap.reopened_at === null ? 'Open' : 'Open again'}
        </Badge>
        <span className="ml-auto flex items-center gap-1">
          {isReached && (
            <Button
              size="sm"
              pending={reopen.isPending}
              reason={reasonAgainst(reopenCap, role)}
              onClick={() => reopen.mutate()}
            >
              Open again
            </Button>
          )}
          <RowMenu name={limitOf(cap)}>
            <MenuItem icon={Pencil} onSelect={() => setEditing(true)}>
              Edit
            </MenuItem>
            <HistoryItem kind="cap" id={cap.id} />
            <MenuLine />
            <DeleteItem
              name={limitOf(cap)}
              what="cap"
              endpoint={deleteCap}
              refresh={[listCaps]}
              words={`It no longer limits ${of.name}.`}
              deed={() => call(deleteCap, { params: { id } })}
            />
          </RowMenu>
        </span>
      </div>
      <div className="mt-1.5 h-1.5 overflow-hidden rounded-full bg-sunken">
        <div
          className={isReached ? 'h-full bg-warn' : 'h-full bg-accent'}
          style={{ width: `${Math.min(100, (used / limit) * 100)}%` }}
        />
      </div>
      <CapSummary cap={cap} />
      <CapDialog capped={of} cap={cap} open={editing} onClose={() => setEditing(false)} />
    </li>
  )
}

function CapSummary({ cap }: { cap: CapRow }) {
  const { used, limit, over_by, reserved, reached_at, reopened_at, reopened_by, resets_at, then_offer_id, timezone } =
    cap
  const offers = useQuery({ ...ask(listOffers, { query: { limit: 200 } }), enabled: then_offer_id !== null })
  const then = offers.data?.data.find(({ id }) => id === then_offer_id)
  const words = [
    `${count(used)} of ${count(limit)} used${over_by > 0 ? `, over the cap by ${count(over_by)}` : ''}`,
    reserved > 0 && `${count(reserved)} reserved`,
    reached_at !== null && `reached ${ago(reached_at)}`,
    reopened_at !== null && `opened again ${ago(reopened_at)}${reopened_by === null ? '' : ` by ${reopened_by}`}`,
  ].filter(part => part !== false)
  return (
    <p
      className="mt-1.5 text-sm text-ink-soft"
      title={reached_at === null ? undefined : `Reached ${moment(reached_at)}`}
    >
      {words.join(', ')}.{' '}
      {resets_at === null
        ? 'It never resets.'
        : `Resets ${moment(resets_at)}, midnight in ${timezone.replaceAll('_', ' ')}.`}
      {cap.object === 'offer' &&
        ` Then ${then_offer_id === null ? 'no other offer' : `to ${then?.name ?? 'another offer'}`}.`}
    </p>
  )
}

function HoursLine({ of }: { of: Capped }) {
  const { role } = useActive()
  const [editing, setEditing] = useState(false)
  const endpoint = of.object === 'offer' ? readOfferHours : readCampaignHours
  const { data, error } = useQuery(ask(endpoint, { params: { id: of.id } }))
  if (data === undefined) return <RefusalNote refused={error} />
  const { open_hours, is_open } = data
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <p className="min-w-0 flex-1 basis-60 text-ink-soft">
        {open_hours === null ? 'Open at all hours.' : hoursInWords(open_hours)}{' '}
        {!is_open && <Badge tone="warn">Closed now</Badge>}
      </p>
      <Button icon={Clock} size="sm" reason={reasonAgainst(setOfferHours, role)} onClick={() => setEditing(true)}>
        Open hours
      </Button>
      <HoursDialog of={of} hours={open_hours} open={editing} onClose={() => setEditing(false)} />
    </div>
  )
}

/** "Mon–Fri 09:00–18:00, Sat 10:00–14:00, in Europe/Kyiv." */
function hoursInWords({ week, timezone }: OpenHoursRow): string {
  const days = week.map(spansOf)
  const parts: string[] = []
  for (let from = 0; from < days.length; ) {
    let to = from
    while (days[to + 1] === days[from]) to += 1
    const names = from === to ? DAY_NAMES[from] : `${DAY_NAMES[from]}–${DAY_NAMES[to]}`
    if (days[from] !== '') parts.push(`${names} ${days[from]}`)
    from = to + 1
  }
  return `Open ${parts.join(', ')}, in ${timezone.replaceAll('_', ' ')}.`
}

const spansOf = (day: string): string =>
  day === '1'.repeat(48)
    ? 'all day'
    : [...day.matchAll(/1+/g)]
        .map(({ index, 0: span }) => `${timeOf(index)}–${timeOf(index + span.length)}`)
        .join(' and ')
