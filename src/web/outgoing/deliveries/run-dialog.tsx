/** A run over past deliveries or conversions: its dates, a preview of the calls, and only then the run. */
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { z } from 'zod'
import { listDeliveries, listDeliveryRuns, type RunPlan } from '../../../outgoing/deliveries/api.ts'
import { count } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Dialog, DialogBody, DialogFoot, DialogForm } from '../../ground/ui/dialog.tsx'
import { TextField } from '../../ground/ui/field.tsx'
import { isoDayAfter, isoDayBegins } from '../../ground/ui/period.ts'
import { zoneWords } from '../../ground/zone.ts'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'

type PlannedRun = z.input<typeof RunPlan>
type RunPeriod = { date_from: string | null; date_to: string | null; dry_run: boolean }

type RunDialogProps = {
  open: boolean
  onClose: () => void
  title: string
  words: ReactNode
  /** What is counted, such as "failed deliveries". */
  what: string
  plan: (period: RunPeriod) => Promise<PlannedRun>
  /** The dates preselected in the form. */
  days?: { from: string | undefined; to: string | undefined }
}

export function RunDialog({ open, onClose, title, words, ...rest }: RunDialogProps) {
  return (
    <Dialog open={open} onClose={onClose} title={title} description={words} width="wide">
      {open && <RunForm {...rest} onClose={onClose} />}
    </Dialog>
  )
}

function RunForm({ what, plan, days, onClose }: Omit<RunDialogProps, 'open' | 'title' | 'words'>) {
  const refresh = useRefresh()
  const [from, setFrom] = useState(days?.from ?? '')
  const [to, setTo] = useState(days?.to ?? '')
  const period = { date_from: from === '' ? null : isoDayBegins(from), date_to: to === '' ? null : isoDayAfter(to) }
  const previewing = useMutation({ mutationFn: () => plan({ ...period, dry_run: true }) })
  const run = useMutation({
    mutationFn: () => plan({ ...period, dry_run: false }),
    onSuccess: async () => {
      await refresh(listDeliveryRuns, listDeliveries)
      onClose()
      notify('The run has started', 'Deliveries shows its progress.')
    },
  })
  const change = (set: (text: string) => void) => (text: string) => {
    set(text)
    previewing.reset()
  }
  const preview = previewing.data
  return (
    <DialogForm onSubmit={() => (preview === undefined ? previewing.mutate() : run.mutate())}>
      <DialogBody>
        <div className="grid gap-4 sm:grid-cols-2">
          <DayField label={`From (${zoneWords()})`} value={from} onChange={change(setFrom)} />
          <DayField label={`To and including (${zoneWords()})`} value={to} onChange={change(setTo)} />
        </div>
        {preview !== undefined && <RunPreview plan={preview} what={what} />}
        <RefusalNote refused={previewing.error ?? run.error} />
      </DialogBody>
      <DialogFoot>
        <Button onClick={onClose}>Cancel</Button>
        {preview === undefined ? (
          <Button type="submit" look="primary" pending={previewing.isPending}>
            Preview
          </Button>
        ) : (
          <Button
            type="submit"
            look="primary"
            pending={run.isPending}
            reason={preview.count === 0 ? 'There is nothing to send.' : tooMuch(preview)}
          >
            {`Send ${count(preview.count)}`}
          </Button>
        )}
      </DialogFoot>
    </DialogForm>
  )
}

const tooMuch = ({ has_more }: PlannedRun) => (has_more ? 'Too many for one run: choose fewer days.' : undefined)

function DayField({ label, value, onChange }: { label: string; value: string; onChange: (text: string) => void }) {
  return <TextField type="date" label={label} optional value={value} onChange={event => onChange(event.target.value)} />
}

function RunPreview({ plan: { count: total, has_more, calls }, what }: { plan: PlannedRun; what: string }) {
  const more = total - calls.length
  return (
    <section aria-live="polite" className="flex flex-col gap-2">
      <Note kind={has_more ? 'warning' : 'plain'}>
        <strong>
          {has_more ? 'More than ' : ''}
          {count(total)}
        </strong>{' '}
        {what}.{has_more && ' A run holds no more than that: choose fewer days, and start one run after another.'}
      </Note>
      {calls.length > 0 && (
        <ol
          // A scrolling region must be reachable by keyboard.
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          tabIndex={0}
          aria-label="The first addresses"
          className="max-h-64 overflow-auto rounded-md border border-line bg-sunken px-3 py-2 font-mono text-sm"
        >
          {calls.map(({ event_id, method, url, skip }) => (
            <li key={event_id} className="py-0.5 break-all">
              {url === null ? (
                <span className="text-warn">Skipped: {skip ?? 'it cannot be sent'}</span>
              ) : (
                `${method} ${url}`
              )}
            </li>
          ))}
          {more > 0 && <li className="py-0.5 text-ink-faint">and {count(more)} more</li>}
        </ol>
      )}
    </section>
  )
}
