/** Runs all filtered refused conversions again, after a preview of how they are read today. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { RotateCcw } from 'lucide-react'
import { useState } from 'react'
import type { z } from 'zod'
import type { Diagnosis } from '../../../contract/diagnoses.ts'
import { listRefusedEvents, previewRefusedRun, runRefusedEvents } from '../../../intake/refused-events/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { count, exactMoment, exactMoney } from '../../ground/figures/figures.ts'
import { inWords } from '../../ground/rungs.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Dialog, DialogBody, DialogFoot, DialogForm } from '../../ground/ui/dialog.tsx'
import { Loaded } from '../../ground/ui/page.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import type { RefusedRow } from './details.tsx'

type Filters = {
  q: string | undefined
  diagnosis: z.infer<typeof Diagnosis> | undefined
  surface: RefusedRow['surface'] | undefined
  network_id: string | undefined
}
type RunPlan = z.input<(typeof previewRefusedRun)['reply']>

export function RunAll({ filters }: { filters: Filters }) {
  const { role } = useActive()
  const [open, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <>
      <Button icon={RotateCcw} reason={reasonAgainst(runRefusedEvents, role)} onClick={() => setOpen(true)}>
        Run all again…
      </Button>
      <Dialog
        open={open}
        onClose={close}
        title="Run these again"
        description="Runs every filtered conversion that can be run. Each is dated now and triggers everything a conversion does, such as postbacks."
        width="wide"
      >
        {open && <RunForm filters={filters} onClose={close} />}
      </Dialog>
    </>
  )
}

/** Runs one portion after another until none is left. */
async function runAll(filters: Filters): Promise<{ recorded: number; refused: number }> {
  const sum = { recorded: 0, refused: 0 }
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const ran = await call(runRefusedEvents, { body: { ...filters, cursor } })
    sum.recorded += ran.recorded
    sum.refused += ran.refused
    cursor = ran.next_cursor
  }
  return sum
}

function RunForm({ filters, onClose }: { filters: Filters; onClose: () => void }) {
  const refresh = useRefresh()
  const plan = useQuery({
    queryKey: ['refused run', filters],
    queryFn: () => call(previewRefusedRun, { body: filters }),
    // A preview from an earlier dialog may be out of date.
    gcTime: 0,
    staleTime: 0,
  })
  const run = useMutation({
    mutationFn: () => runAll(filters),
    onSuccess: async ({ recorded, refused }) => {
      await refresh(listRefusedEvents)
      onClose()
      notify(
        `${count(recorded)} recorded`,
        refused === 0 ? 'None is still refused.' : `${count(refused)} still refused.`,
      )
    },
  })
  const found = plan.data?.count
  return (
    <DialogForm
      onSubmit={() => {
        if (found !== undefined && found > 0 && !run.isPending) run.mutate()
      }}
    >
      <DialogBody>
        <Loaded query={plan}>{preview => <Preview plan={preview} />}</Loaded>
        <RefusalNote refused={run.error} />
      </DialogBody>
      <DialogFoot>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          type="submit"
          look="primary"
          pending={run.isPending}
          reason={found === undefined ? 'Counting…' : found === 0 ? 'Nothing to run.' : undefined}
        >
          {found === undefined ? 'Run again' : `Run ${count(found)} again`}
        </Button>
      </DialogFoot>
    </DialogForm>
  )
}

function Preview({ plan: { count: total, first } }: { plan: RunPlan }) {
  const more = total - first.length
  return (
    <section aria-live="polite" className="flex flex-col gap-2">
      <Note>
        <strong>{count(total)}</strong> refused {total === 1 ? 'conversion' : 'conversions'}.
        {first.length > 0 && ' This is how they are read now. Whether their clicks exist is checked when they run.'}
      </Note>
      {first.length > 0 && (
        <ol
          // A scrolling region must be reachable by keyboard.
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          tabIndex={0}
          aria-label="Preview of the oldest"
          className="max-h-64 overflow-auto rounded-md border border-line bg-sunken px-3 py-2 text-sm"
        >
          {first.map(row => (
            <li key={row.id} className="flex flex-wrap gap-x-3 py-0.5">
              <span className="text-ink-faint">{exactMoment(row.received_at)}</span>
              {row.reads_as === null ? (
                <span className="text-warn">Still refused: {row.error}</span>
              ) : (
                <span>
                  <strong className="font-medium">{inWords(row.reads_as.type ?? row.reads_as.verdict ?? '')}</strong>
                  {row.reads_as.type === null ? ', of the recorded conversion' : row.reads_as.verdict && ', on hold'}
                  {row.reads_as.payout !== null && `, $${exactMoney(row.reads_as.payout)}`}
                  {row.reads_as.payout === null && row.reads_as.type !== null && ', the offer’s payout'}
                </span>
              )}
              {row.click_text !== null && <span className="font-mono break-all text-ink-soft">{row.click_text}</span>}
            </li>
          ))}
          {more > 0 && <li className="py-0.5 text-ink-faint">and {count(more)} more</li>}
        </ol>
      )}
    </section>
  )
}
