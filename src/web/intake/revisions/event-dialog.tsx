/** One conversion: its status, its history, and a form that changes its status. */
import { useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import { EVENT_STATUSES, hasAmount } from '../../../contract/revisions.ts'
import { type LoggedEvent, listEvents } from '../../../intake/events/api.ts'
import { listRevisions, reviseEvent, RevisionDraft } from '../../../intake/revisions/api.ts'
import { readTrace } from '../../../reading/traces/api.ts'
import { ask, call } from '../../ground/call.ts'
import { exactMoment, exactMoney } from '../../ground/figures/figures.ts'
import { CurrencyField, Original } from '../../ground/original.tsx'
import { inWords } from '../../ground/rungs.ts'
import { CodeBlock } from '../../ground/ui/copy.tsx'
import { Dialog } from '../../ground/ui/dialog.tsx'
import { noneIfBlank, useDraft } from '../../ground/ui/draft.ts'
import { DraftForm } from '../../ground/ui/draft-form.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { History, ConversionStatusBadge, wordOf } from './standing.tsx'

type EventRow = z.input<typeof LoggedEvent>
type Draft = z.input<typeof RevisionDraft>

export function EventDialog({ event, onClose }: { event: EventRow | undefined; onClose: () => void }) {
  return (
    <Dialog
      open={event !== undefined}
      onClose={onClose}
      title={event === undefined ? '' : inWords(event.type)}
      width="wide"
    >
      {event !== undefined && <EventForm key={event.id} event={event} onClose={onClose} />}
    </Dialog>
  )
}

function EventForm({ event, onClose }: { event: EventRow; onClose: () => void }) {
  const revisions = useQuery(ask(listRevisions, { params: { id: event.id } }))
  const form = useDraft<Draft>(RevisionDraft, {
    status: event.status === 'approved' ? 'rejected' : 'approved',
    amount: null,
    currency: event.original?.currency ?? null,
    reason: null,
  })
  const errors = form.formState.errors
  const standing = revisions.data ?? event
  return (
    <DraftForm
      form={form}
      action="Save status"
      endpoint={reviseEvent}
      deed={body =>
        call(reviseEvent, {
          params: { id: event.id },
          body: hasAmount(body.status) ? body : { ...body, amount: null, currency: null },
        })
      }
      refresh={[listEvents, listRevisions, readTrace]}
      onClose={onClose}
      onSaved={({ status, unchanged }) =>
        notify(unchanged ? `Already ${wordOf(status).toLowerCase()}` : `Now ${wordOf(status).toLowerCase()}`)
      }
    >
      <p>
        <ConversionStatusBadge status={standing.status} />
        {hasAmount(standing.status) && <span className="font-semibold"> ${exactMoney(standing.amount)}</span>}
        <span className="text-ink-soft"> {recordedAs(event)}</span> <Original money={event.original} />
        {revisions.data?.hold_until != null && (
          <span className="text-ink-soft"> Auto-approved at {exactMoment(revisions.data.hold_until)}.</span>
        )}
      </p>
      {revisions.data !== undefined && <History revisions={revisions.data.data} />}
      <fieldset className="grid gap-4 border-t border-line pt-4 sm:grid-cols-2">
        <SelectField label="New status" error={errors.status?.message} {...form.register('status')}>
          {EVENT_STATUSES.map(status => (
            <option key={status} value={status}>
              {wordOf(status)}
            </option>
          ))}
        </SelectField>
        {hasAmount(form.watch('status')) && (
          <div className="grid grid-cols-2 gap-4">
            <TextField
              label="Amount"
              optional
              hint="Blank: unchanged."
              inputMode="decimal"
              error={errors.amount?.message}
              {...form.register('amount', noneIfBlank)}
            />
            <CurrencyField
              label="Currency"
              optional
              placeholder="USD"
              hint={
                event.original === null
                  ? 'Converted at today’s rate.'
                  : `${event.original.currency} keeps its recorded rate.`
              }
              error={errors.currency?.message}
              {...form.register('currency', noneIfBlank)}
            />
          </div>
        )}
        <TextField label="Reason" optional error={errors.reason?.message} {...form.register('reason', noneIfBlank)} />
        <p className="text-sm text-ink-faint sm:col-span-2">
          Changes revenue on the day of the click. The click’s status, the charge and what was already sent stay as they
          are.
        </p>
      </fieldset>
      <CodeBlock label="As recorded" text={JSON.stringify(asRecorded(event), null, 2)} />
    </DraftForm>
  )
}

/** The event without its current status. */
function asRecorded({ status: _, amount: _amount, revisions: _revisions, ...recorded }: EventRow) {
  return recorded
}

const recordedAs = ({ payout, created_at }: EventRow): string =>
  `Recorded ${payout === null ? 'without a payout' : `with $${exactMoney(payout)}`} at ${exactMoment(created_at)}.`
