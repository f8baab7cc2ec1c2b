/** The form that spreads an amount over the clicks of a time window. It previews the amount of each day before saving. */
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

type SpreadDraft = Record<'campaign_id' | 'from' | 'to' | 'zone' | 'amount' | 'currency' | 'sub1', string>
type SpreadRequest = z.input<(typeof spreadAdSpend)['body']>
type SpreadPreview = z.input<(typeof spreadAdSpend)['reply']>

const OWN_ZONE = ownZone()
const ZONES = [...new Set(['UTC', OWN_ZONE, ...ZONE_NAMES])]

/** Yesterday in the given time zone. */
function yesterdayIn(zone: string, now: number): Pick<SpreadDraft, 'from' | 'to'> {
  const today = localIn(zone, now).slice(0, 10)
  const before = new Date(Date.parse(today) - 1).toISOString().slice(0, 10)
  return { from: `${before}T00:00`, to: `${today}T00:00` }
}

/** The request, or what the user must still enter. */
function requestOf({
  campaign_id,
  from,
  to,
  zone,
  amount,
  currency,
  sub1,
}: SpreadDraft): Omit<SpreadRequest, 'dry_run'> | string {
  const [begin, end] = [momentIn(zone, from), momentIn(zone, to)]
  if (campaign_id === '') return 'Choose a campaign.'
  if (begin === undefined || end === undefined) return 'Enter when it starts and ends.'
  if (amount.trim() === '') return 'Enter an amount.'
  const of = { currency: currency === '' ? null : currency, sub1: sub1 === '' ? null : sub1 }
  return { campaign_id, from: begin, to: end, amount: amount.trim(), ...of }
}

type SpreadFormProps = { campaign: string | undefined; now: number; onClose: () => void }

export function SpreadForm({ campaign, now, onClose }: SpreadFormProps) {
  const { role } = useActive()
  const refresh = useRefresh()
  const [draft, setDraft] = useState<SpreadDraft>(() => ({
    campaign_id: campaign ?? '',
    ...yesterdayIn(OWN_ZONE, now),
    zone: OWN_ZONE,
    amount: '',
    currency: '',
    sub1: '',
  }))
  const previewing = useMutation({
    mutationFn: (request: Omit<SpreadRequest, 'dry_run'>) =>
      call(spreadAdSpend, { body: { ...request, dry_run: true } }),
  })
  const save = useMutation({
    mutationFn: (request: Omit<SpreadRequest, 'dry_run'>) =>
      call(spreadAdSpend, { body: { ...request, dry_run: false } }),
    onSuccess: async ({ clicks }) => {
      await refresh(listSpreads)
      onClose()
      notify(`The amount is spread over ${count(clicks)} clicks`)
    },
  })
  const request = requestOf(draft)
  const change = (changes: Partial<SpreadDraft>) => {
    setDraft({ ...draft, ...changes })
    previewing.reset()
    save.reset()
  }
  const missing = typeof request === 'string' ? request : undefined
  return (
    <DialogForm
      onSubmit={() => {
        if (typeof request === 'string') return
        if (previewing.data === undefined) previewing.mutate(request)
        else save.mutate(request)
      }}
    >
      <DialogBody>
        <SpreadFields draft={draft} onChange={change} />
        {previewing.data !== undefined && typeof request !== 'string' && (
          <DayAmounts preview={previewing.data} request={request} />
        )}
        <RefusalNote refused={previewing.error ?? save.error} />
      </DialogBody>
      <SaveFoot
        action={previewing.data === undefined ? 'Preview' : 'Spread amount'}
        pending={previewing.isPending || save.isPending}
        reason={reasonAgainst(spreadAdSpend, role) ?? missing}
        onCancel={onClose}
      />
    </DialogForm>
  )
}

function SpreadFields({ draft, onChange }: { draft: SpreadDraft; onChange: (changes: Partial<SpreadDraft>) => void }) {
  const campaigns = useCampaigns()
  const isKnown = draft.campaign_id === '' || campaigns.some(({ id }) => id === draft.campaign_id)
  const of = (field: keyof SpreadDraft) => ({
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
      <SelectField label="Time zone" hint="The time zone of the bill. Reports use UTC days." {...of('zone')}>
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
      <TextField
        label="sub1"
        optional
        hint="Only if the amount is for a single sub1."
        autoComplete="off"
        {...of('sub1')}
      />
    </>
  )
}

/** The amount each day would get. */
function DayAmounts({ preview, request }: { preview: SpreadPreview; request: Omit<SpreadRequest, 'dry_run'> }) {
  return (
    <div aria-live="polite">
      <p className="mb-2 text-ink-soft">
        {`${moment(request.from)} to ${moment(request.to)}: $${exactMoney(preview.amount)} over ${count(preview.clicks)} clicks. `}
        It cannot be edited afterwards, only taken back as a whole.
      </p>
      <Table caption="Amount by day">
        <thead>
          <tr>
            <Head stay>Day (UTC)</Head>
            <Head numeric>Clicks</Head>
            <Head numeric>Amount, $</Head>
          </tr>
        </thead>
        <tbody>
          {preview.days.map(row => (
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
