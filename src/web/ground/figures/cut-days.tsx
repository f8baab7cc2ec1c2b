/** Said where the days of a zone cut those that spend is booked by. */
import { zoneNow } from '../zone.ts'
import { type Days, isRagged } from './window.ts'

type CutDaysProps = { days: Days; source: string | null | undefined; className?: string }

/** `source` is where the cost shown is from; what clicks themselves cost is not booked. */
export function CutDays({ days, source, className = 'mt-2' }: CutDaysProps) {
  if (!isRagged(days) || source == null || source === 'link') return null
  return (
    <p className={`text-sm text-ink-faint ${className}`}>
      {`Spend is booked by UTC day. Of the days that the days of ${zoneNow()} cut, the shares of the clicks within these are counted.`}
    </p>
  )
}
