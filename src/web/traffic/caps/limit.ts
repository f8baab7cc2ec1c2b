/** A cap in a few words. */
import { count } from '../../ground/figures/figures.ts'
import { inWords } from '../../ground/rungs.ts'
import type { CapRow } from './cap-dialog.tsx'

/** "50 FTD a day", "1,000 clicks in all". */
export function limitOf({ limit, metric, event_types, period }: CapRow): string {
  const conversions = event_types.length === 0 ? 'conversions' : event_types.map(inWords).join(' or ')
  return `${count(limit)} ${metric === 'clicks' ? 'clicks' : conversions} ${period === 'total' ? 'in all' : `a ${period}`}`
}
