/** Running refused intake again, all that the filters name: how many there are and how they are read today, and only then the run. */
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
import { Asked } from '../../ground/ui/page.tsx'
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
type Plan = z.input<(typeof previewRefusedRun)['reply']>

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
        description="All that the filters show and that can be run. What is recorded has all consequences of a conversion, such as postbacks, and is dated now."
        width="wide"
      >
        {open && <RunForm filters={filters} onClose={close} />}
      </Dialog>
    </>
  )
}

/** Runs portion after portion until there is none left. */
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
    // What was true when another dialog was open says nothing of now.
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
        refused === 0 ? 'Nothing stays refused.' : `${count(refused)} stay refused.`,
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
        <Asked query={plan}>{planned => <Planned plan={planned} />}</Asked>
        <RefusalNote refused={run.error} />
      </DialogBody>
      <DialogFoot>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          type="submit"
          look="primary"
          pending={run.isPending}
          reason={
            found === undefined ? 'They are being counted.' : found === 0 ? 'There is nothing to run.' : undefined
          }
        >
          {found === undefined ? 'Run again' : `Run ${count(found)} again`}
        </Button>
      </DialogFoot>
    </DialogForm>
  )
}

function Planned({ plan: { count: total, first } }: { plan: Plan }) {
  const more = total - first.length
  return (
    <section aria-live="polite" className="flex flex-col gap-2">
      <Note>
        <strong>{count(total)}</strong> refused {total === 1 ? 'conversion' : 'conversions'}.
        {first.length > 0 && ' So they are read today; whether the click is known shows when they run.'}
      </Note>
      {first.length > 0 && (
        <ol
          // A scrolling region must be reachable by keyboard.
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          tabIndex={0}
          aria-label="How the first are read"
          className="max-h-64 overflow-auto rounded-md border border-line bg-sunken px-3 py-2 text-sm"
        >
          {first.map(row => (
            <li key={row.id} className="flex flex-wrap gap-x-3 py-0.5">
              <span className="text-ink-faint">{exactMoment(row.received_at)}</span>
              {row.reads_as === null ? (
                <span className="text-warn">Stays refused: {row.error}</span>
              ) : (
                <span>
                  <strong className="font-medium">{inWords(row.reads_as.type ?? row.reads_as.verdict ?? '')}</strong>
                  {row.reads_as.type === null ? ', said of what is recorded' : row.reads_as.verdict && ', on hold'}
                  {row.reads_as.payout !== null && `, $${exactMoney(row.reads_as.payout)}`}
                  {row.reads_as.payout === null && row.reads_as.type !== null && ', the payout of its offer'}
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
