/** The run in progress, and how far it is. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { listDeliveryRuns, stopDeliveryRun } from '../../../outgoing/deliveries/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { count } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'

const PACE_MS = 3000

export function RunsNote() {
  const refresh = useRefresh()
  const { role } = useActive()
  const runs = useQuery({
    ...ask(listDeliveryRuns, { query: { limit: 1 } }),
    refetchInterval: ({ state }) => (state.data?.data[0]?.outcome === null ? PACE_MS : false),
  })
  const stop = useMutation({
    mutationFn: (id: string) => call(stopDeliveryRun, { params: { id } }),
    onSuccess: () => refresh(listDeliveryRuns),
  })
  const run = runs.data?.data[0]
  if (run === undefined || run.outcome !== null) return null
  return (
    <div className="mb-4">
      <Note>
        <div className="flex flex-wrap items-center gap-3">
          <span aria-live="polite" className="min-w-0 flex-1">
            <strong>{run.kind === 'resend' ? 'Resending deliveries' : 'Running a rule over past conversions'}</strong>:{' '}
            {count(run.done)} of {count(run.total)} queued.
          </span>
          <Button
            size="sm"
            pending={stop.isPending}
            reason={reasonAgainst(stopDeliveryRun, role)}
            onClick={() => stop.mutate(run.id)}
          >
            Stop
          </Button>
        </div>
        <RefusalNote refused={stop.error} />
      </Note>
    </div>
  )
}
