/** Hours of the week as a map: a table of weekdays and hours with the chosen figure in each, shaded by how much it is. */
import { compact, count, money, percent, perUnit } from '../../ground/figures/figures.ts'
import { measure, NO_CLICKS, numberOf, sumOf, type Totals } from '../../ground/figures/measures.ts'
import { type Goal, HEATS, type Heat } from '../../ground/figures/search.ts'
import { type Days, daysIn } from '../../ground/figures/window.ts'
import { Choice } from '../../ground/ui/choice.tsx'
import { chartWords } from './tiles.tsx'
import { shadeOf } from '../explore/shades.ts'
import { HOURS, WEEKDAYS, WeekMap } from '../explore/week-map.tsx'

type ChoiceProps = { heat: Heat | undefined; goalWords: string; onChange: (heat: Heat | undefined) => void }

export function HeatChoice({ heat, goalWords, onChange }: ChoiceProps) {
  return (
    <Choice
      label="Shaded by"
      any={chartWords('clicks', goalWords)}
      options={HEATS.filter(one => one !== 'clicks')}
      words={one => chartWords(one, goalWords)}
      value={heat === 'clicks' ? undefined : heat}
      onChange={onChange}
    />
  )
}

type HeatMapProps = {
  rows: readonly (Totals & { key: string })[]
  heat: Heat
  goal: Goal
  goalWords: string
  days: Days
  zone: string
}

export function HeatMap({ rows, heat, goal, goalWords, days, zone }: HeatMapProps) {
  const byKey = new Map(rows.map(row => [row.key, row]))
  const at = (day: number, hour: string): Totals => byKey.get(`${day + 1}-${hour}`) ?? NO_CLICKS
  const valueOf = (row: Totals) => numberOf(measure(row, goal)[heat])
  const most = Math.max(0, ...rows.map(row => valueOf(row) ?? 0))
  const shown = (row: Totals) => <Figure row={row} heat={heat} goal={goal} />
  return (
    <>
      <WeekMap
        caption={`${chartWords(heat, goalWords)} by weekday and hour, ${zone}`}
        at={(day, hour) => {
          const row = at(day, hour)
          return {
            shown: shown(row),
            title: `${WEEKDAYS[day]} ${hour}:00, ${inWords(row, goal, goalWords)}`,
            style: shadeOf(valueOf(row), most),
            faint: row.clicks === 0,
          }
        }}
        ofDay={day => shown(sumOf(HOURS.map(hour => at(day, hour))))}
        ofHour={hour => shown(sumOf(WEEKDAYS.map((_, day) => at(day, hour))))}
        all={shown(sumOf(rows))}
      />
      <p className="mt-2 text-sm text-ink-faint">
        {`Hours by the clocks of ${zone}; the deeper the shade, the higher the figure. ${daysIn(days) % 7 === 0 ? '' : 'These days are no whole weeks: some weekdays are in them once more than others.'}`}
      </p>
    </>
  )
}

/** Short enough for a cell; the whole of it stands in its title. */
function Figure({ row, heat, goal }: { row: Totals; heat: Heat; goal: Goal }) {
  const value = numberOf(measure(row, goal)[heat])
  if (value === undefined) return '—'
  if (heat === 'cr') return `${(value * 100).toFixed(value < 0.1 && value > 0 ? 1 : 0)}%`
  return heat === 'epc' ? perUnit(value) : compact(value)
}

function inWords(row: Totals, goal: Goal, goalWords: string): string {
  const { cr, epc, conversions } = measure(row, goal)
  const ratios = row.clicks === 0 ? '' : `, CR ${percent(cr)}, EPC $${perUnit(epc)}`
  return `clicks ${count(row.clicks)}, ${goalWords} ${count(conversions)}, revenue $${money(row.revenue)}${ratios}`
}
