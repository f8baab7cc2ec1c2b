/** Figures of funnels, click flows and sources, and the note above them that says which clicks they count. */
import { useQuery } from '@tanstack/react-query'
import { readDestinationFigures } from '../../../reading/figures/api.ts'
import { ask } from '../../ground/call.ts'
import { type ListFigures, NO_FIGURES } from '../../ground/figures/list-figures.tsx'
import { type Days, daysOrBoundsOf } from '../../ground/figures/window.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'

/** Figures of all funnels, all click flows or all traffic sources; `error` says why they are missing. */
export function useLedFigures(
  type: 'funnel' | 'click_flow' | 'traffic_source',
  days: Days,
): { figures: ListFigures; error: Error | null } {
  const { data, error } = useQuery(ask(readDestinationFigures, { query: { type, ...daysOrBoundsOf(days) } }))
  return { figures: data === undefined ? NO_FIGURES : { rows: data.rows, missing: 'none' }, error }
}

export function LedWords({ error }: { error: Error | null }) {
  return (
    <>
      <RefusalNote refused={error} className="mb-3" />
      <p className="mb-2 text-sm text-ink-soft">
        ListFigures count all clicks in these days of the campaigns that lead here now.
      </p>
    </>
  )
}
