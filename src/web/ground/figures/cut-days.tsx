/** Said where the days of a zone cut those that spend is booked by, and that rows by day are. */
import { zoneNow } from '../zone.ts'
import { type Days, isRagged } from './window.ts'

/** `source` is where the cost shown is from; what clicks themselves cost is not booked. */
export function CutDays({
  days,
  byDay = false,
  source,
}: {
  days: Days
  byDay?: boolean
  source: string | null | undefined
}) {
  if (!isRagged(days)) return null
  const words = [
    ...(byDay ? [`Rows are UTC days; the first and last hold only what is within the days of ${zoneNow()}.`] : []),
    ...(source == null || source === 'link'
      ? []
      : [
          `Spend is booked by UTC day. Of the days that the days of ${zoneNow()} cut, the shares of the clicks within these are counted.`,
        ]),
  ]
  return words.length === 0 ? null : <p className="mt-2 text-sm text-ink-faint">{words.join(' ')}</p>
}
