/** A note for time zones whose days span two UTC days, because spend is booked by UTC day. */
import { zoneNow } from '../zone.ts'
import { type Days, isRagged } from './window.ts'

type CutDaysProps = { days: Days; source: string | null | undefined; className?: string }

/** `source` is where the cost comes from. Costs of the clicks themselves are not booked by day. */
export function CutDays({ days, source, className = 'mt-2' }: CutDaysProps) {
  if (!isRagged(days) || source == null || source === 'link') return null
  return (
    <p className={`text-sm text-ink-faint ${className}`}>
      {`Spend is booked by UTC day. If these ${zoneNow()} days contain only part of a UTC day, their clicks count with their share of its spend.`}
    </p>
  )
}
