/** A short description of a cap. */
import { count } from '../../ground/figures/figures.ts'
import { inWords } from '../../ground/rungs.ts'
import type { CapRow } from './cap-dialog.tsx'

/** "50 conversions a day (FTD)", "1,000 clicks in all". */
export function limitOf({ limit, metric, event_types, period }: CapRow): string {
  const which = event_types.length === 0 ? '' : ` (${event_types.map(inWords).join(', ')})`
  const what = metric === 'cost' ? `$${count(limit)} of cost` : `${count(limit)} ${metric}`
  return `${what} ${period === 'total' ? 'in total' : `a ${period}`}${which}`
}
