/** Figures of what campaigns lead to, and what they are of, said where they stand. */
import { useQuery } from '@tanstack/react-query'
import { readDestinationFigures } from '../../../reading/figures/api.ts'
import { ask } from '../../ground/call.ts'
import { type Figures, NO_FIGURES } from '../../ground/figures/list-figures.tsx'
import { type Days, daysOrBoundsOf } from '../../ground/figures/window.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'

/** Of all funnels, of all click flows, or of all traffic sources, and why there are none. */
export function useLedFigures(
  type: 'funnel' | 'click_flow' | 'traffic_source',
  days: Days,
): { figures: Figures; error: Error | null } {
  const { data, error } = useQuery(ask(readDestinationFigures, { query: { type, ...daysOrBoundsOf(days) } }))
  return { figures: data === undefined ? NO_FIGURES : { rows: data.rows, missing: 'none' }, error }
}

/** What the figures below are of. */
export function LedWords({ error }: { error: Error | null }) {
  return (
    <>
      <RefusalNote refused={error} className="mb-3" />
      <p className="mb-2 text-sm text-ink-soft">
        The figures are of all clicks, in these days, of the campaigns that lead here now.
      </p>
    </>
  )
}
