/** The form that spreads an amount over the clicks of a window: first it is shown what would fall to each day, then it is done. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import { localIn, momentIn } from '../../../contract/zones.ts'
import { listSpreads, spreadAdSpend } from '../../../money/ad-spend/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { useCampaigns } from '../../ground/campaign-choice.tsx'
import { count, day, exactMoney, moment } from '../../ground/figures/figures.ts'
import { DialogBody, DialogForm, SaveFoot } from '../../ground/ui/dialog.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { CurrencyField } from '../../ground/original.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { ownZone, ZONE_NAMES } from '../../ground/zone-names.ts'

type Draft = Record<'campaign_id' | 'from' | 'to' | 'zone' | 'amount' | 'currency' | 'sub1', string>
type Wanted = z.input<(typeof spreadAdSpend)['body']>
type Told = z.input<(typeof spreadAdSpend)['reply']>

const OWN_ZONE = ownZone()
const ZONES = [...new Set(['UTC', OWN_ZONE, ...ZONE_NAMES])]

/** Yesterday, as the zone's clocks have it. */
function yesterdayIn(zone: string, now: number): Pick<Draft, 'from' | 'to'> {
  const today = localIn(zone, now).slice(0, 10)
  const before = new Date(Date.parse(today) - 1).toISOString().slice(0, 10)
  return { from: `${before}T00:00`, to: `${today}T00:00` }
}

/** What is sent, or what is still missing. */
function wantedOf({ campaign_id, from, to, zone, amount, currency, sub1 }: Draft): Omit<Wanted, 'dry_run'> | string {
  const [begin, end] = [momentIn(zone, from), momentIn(zone, to)]
  if (campaign_id === '') return 'Choose a campaign.'
  if (begin === undefined || end === undefined) return 'Say from when to when.'
  if (amount.trim() === '') return 'Say how much.'
  const of = { currency: currency === '' ? null : currency, sub1: sub1 === '' ? null : sub1 }
  return { campaign_id, from: begin, to: end, amount: amount.trim(), ...of }
}

type SpreadFormProps = { campaign: string | undefined; now: number; onClose: () => void }

export function SpreadForm({ campaign, now, onClose }: SpreadFormProps) {
  const { role } = useActive()
  const refresh = useRefresh()
  const [draft, setDraft] = useState<Draft>(() => ({
    campaign_id: campaign ?? '',
    ...yesterdayIn(OWN_ZONE, now),
    zone: OWN_ZONE,
    amount: '',
    currency: '',
    sub1: '',
  }))
  const look = useMutation({
    mutationFn: (wanted: Omit<Wanted, 'dry_run'>) => call(spreadAdSpend, { body: { ...wanted, dry_run: true } }),
  })
  const save = useMutation({
    mutationFn: (wanted: Omit<Wanted, 'dry_run'>) => call(spreadAdSpend, { body: { ...wanted, dry_run: false } }),
    onSuccess: async ({ clicks }) => {
      await refresh(listSpreads)
      onClose()
      notify(`The amount is spread over ${count(clicks)} clicks`)
    },
  })
  const wanted = wantedOf(draft)
  const change = (changes: Partial<Draft>) => {
    setDraft({ ...draft, ...changes })
    look.reset()
    save.reset()
  }
  const missing = typeof wanted === 'string' ? wanted : undefined
  return (
    <DialogForm
      onSubmit={() => {
        if (typeof wanted === 'string') return
        if (look.data === undefined) look.mutate(wanted)
        else save.mutate(wanted)
      }}
    >
      <DialogBody>
        <SpreadFields draft={draft} onChange={change} />
        {look.data !== undefined && typeof wanted !== 'string' && <Shares told={look.data} wanted={wanted} />}
        <RefusalNote refused={look.error ?? save.error} />
      </DialogBody>
      <SaveFoot
        action={look.data === undefined ? 'See the parts' : 'Spread it'}
        pending={look.isPending || save.isPending}
        reason={reasonAgainst(spreadAdSpend, role) ?? missing}
        onCancel={onClose}
      />
    </DialogForm>
  )
}

function SpreadFields({ draft, onChange }: { draft: Draft; onChange: (changes: Partial<Draft>) => void }) {
  const campaigns = useCampaigns()
  const isKnown = draft.campaign_id === '' || campaigns.some(({ id }) => id === draft.campaign_id)
  const of = (field: keyof Draft) => ({
    value: draft[field],
    onChange: (event: { target: { value: string } }) => onChange({ [field]: event.target.value }),
  })
  return (
    <>
      <SelectField label="Campaign" {...of('campaign_id')}>
        <option value="" disabled>
          Choose a campaign
        </option>
        {!isKnown && <option value={draft.campaign_id}>{draft.campaign_id}</option>}
        {campaigns.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField type="datetime-local" label="From" {...of('from')} />
        <TextField type="datetime-local" label="Until" {...of('to')} />
      </div>
      <SelectField label="Time zone" hint="Of the bill. Days of the report are UTC’s." {...of('zone')}>
        {ZONES.map(zone => (
          <option key={zone} value={zone}>
            {zone.replaceAll('_', ' ')}
          </option>
        ))}
      </SelectField>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField label="Amount" inputMode="decimal" autoComplete="off" {...of('amount')} />
        <CurrencyField label="Currency" optional placeholder="USD" {...of('currency')} />
      </div>
      <TextField label="sub1" optional hint="Only where the amount is of one." autoComplete="off" {...of('sub1')} />
    </>
  )
}

/** What would fall to each day. */
function Shares({ told, wanted }: { told: Told; wanted: Omit<Wanted, 'dry_run'> }) {
  return (
    <div aria-live="polite">
      <p className="mb-2 text-ink-soft">
        {`${moment(wanted.from)} to ${moment(wanted.to)}: $${exactMoney(told.amount)} over ${count(told.clicks)} clicks. `}
        Once spread it stays as it is, and can be taken back whole.
      </p>
      <Table caption="What falls to each day">
        <thead>
          <tr>
            <Head stay>Day (UTC)</Head>
            <Head numeric>Clicks</Head>
            <Head numeric>Amount, $</Head>
          </tr>
        </thead>
        <tbody>
          {told.days.map(row => (
            <Row key={row.day}>
              <RowHead stay>{day(row.day)}</RowHead>
              <Cell numeric>{count(row.clicks)}</Cell>
              <Cell numeric>{exactMoney(row.amount)}</Cell>
            </Row>
          ))}
        </tbody>
      </Table>
    </div>
  )
}
