/**
 * The chart of the chosen figure by day, with the previous days behind it; money is drawn as revenue and cost. Lines are straight between days and
 * dashed to a day that is not over. Loaded when shown.
 */
import {
  Area,
  CartesianGrid,
  ComposedChart,
  type DotItemDotProps,
  Legend,
  Line,
  ReferenceLine,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts'
import { compact, count, day, money, percent, perUnit, shortDay, signOf } from '../../ground/figures/figures.ts'
import { measure, numberOf, type WireReportRow } from '../../ground/figures/measures.ts'
import type { Chart, Goal } from '../../ground/figures/search.ts'
import { shift as shiftDay } from '../../ground/figures/window.ts'
import { isUtc } from '../../ground/zone.ts'
import type { DayMark } from './marks.tsx'
import { chartWords } from './tiles.tsx'

type Series = { key: string; name: string; colour: string; look: 'area' | 'line' | 'behind' }
type Point = { day: string } & Record<string, string | number | undefined>

const MONEY = new Set<Chart>(['revenue', 'cost', 'profit'])

type DayChartProps = {
  chart: Chart
  goal: Goal
  goalWords: string
  days: readonly string[]
  rows: readonly WireReportRow[]
  before: readonly WireReportRow[]
  shift: number
  today: string
  /** The day of the figures, where it is drawn with the six days before it. */
  chosen: string | undefined
  currency: string
  marks: readonly DayMark[]
}

/** The key of the dashed line to the current day. */
const soFar = (key: string) => `${key} so far`

export function DayChart(props: DayChartProps) {
  const { chart, goalWords, shift, today, chosen, marks } = props
  const sign = signOf(props.currency)
  const series = seriesOf(chart, goalWords, shift).filter(({ look }) => look !== 'behind' || chosen === undefined)
  const points = splitAt(today, pointsOf(props), series)
  const isRunning = points.at(-1)?.day === today
  const first = points[0]
  const last = points.at(-1)
  const words = `${chartWords(chart, goalWords)} by ${isUtc() ? '' : 'UTC '}day, ${first === undefined ? '' : day(first.day)} to ${last === undefined ? '' : day(last.day)}. The report by day has the numbers.`
  return (
    <figure aria-label={words} className="px-2 pt-3 pb-1">
      <ResponsiveContainer width="100%" height={168}>
        <ComposedChart data={points} margin={{ top: 4, right: 22, bottom: 0, left: 0 }}>
          <CartesianGrid vertical={false} stroke="var(--line)" />
          <XAxis
            dataKey="day"
            tickFormatter={shortDay}
            minTickGap={36}
            tickLine={false}
            axisLine={{ stroke: 'var(--line)' }}
            tick={TICK}
            dy={4}
          />
          <YAxis
            tickFormatter={value => axisWords(chart, Number(value), sign)}
            allowDecimals={chart !== 'clicks' && chart !== 'conversions'}
            width={58}
            tickCount={4}
            tickLine={false}
            axisLine={false}
            tick={TICK}
          />
          <Tooltip
            content={({ active, payload, label }) =>
              active ? (
                <Tip
                  label={String(label)}
                  today={today}
                  chart={chart}
                  sign={sign}
                  entries={payload}
                  series={series}
                  marks={marks}
                />
              ) : null
            }
            cursor={{ stroke: 'var(--line-strong)' }}
          />
          <Legend
            verticalAlign="bottom"
            align="left"
            height={24}
            content={() => <Key series={series} isRunning={isRunning} chosen={chosen} />}
          />
          {[...new Set(marks.map(mark => mark.day))].map(marked => (
            <ReferenceLine key={marked} x={marked} stroke="var(--accent)" strokeDasharray="1 3" label={MARK} />
          ))}
          {chosen !== undefined && <ReferenceLine x={chosen} stroke="var(--line-strong)" strokeWidth={1} />}
          {series.map(one => drawn(one, points.length))}
          {isRunning && series.filter(({ look }) => look !== 'behind').map(one => drawnSoFar(one))}
        </ComposedChart>
      </ResponsiveContainer>
    </figure>
  )
}

const MARK = { value: '▾', position: 'top', fill: 'var(--accent)', fontSize: 11, offset: -6 } as const

const TICK = { fill: 'var(--ink-faint)', fontSize: 11 }

function seriesOf(chart: Chart, goal: string, days: number): Series[] {
  if (!MONEY.has(chart))
    return [
      { key: 'before', name: `The ${days} days before`, colour: 'var(--chart-faint)', look: 'behind' },
      { key: 'now', name: chartWords(chart, goal), colour: 'var(--chart-1)', look: 'area' },
    ]
  const sums: Series[] = [
    { key: 'revenue', name: 'Revenue', colour: 'var(--chart-1)', look: 'area' },
    { key: 'cost', name: 'Cost', colour: 'var(--chart-2)', look: 'line' },
  ]
  return chart === 'profit'
    ? [...sums, { key: 'profit', name: 'Profit', colour: 'var(--chart-3)', look: 'line' }]
    : sums
}

/** Moves the current day from the lines to the dashed ones, which start at the day before it. */
function splitAt(today: string, points: Point[], series: readonly Series[]): Point[] {
  const at = points.findIndex(point => point.day === today)
  if (at < 0) return points
  const keys = series.filter(({ look }) => look !== 'behind').map(({ key }) => key)
  return points.map((point, index) => {
    if (index < at - 1) return point
    const ends = Object.fromEntries(keys.map(key => [soFar(key), point[key]]))
    const gone = index === at ? Object.fromEntries(keys.map(key => [key, undefined])) : {}
    return { ...point, ...gone, ...ends }
  })
}

function pointsOf({ chart, goal, days, rows, before, shift }: DayChartProps): Point[] {
  const now = new Map(rows.map(row => [row.key, measure(row, goal)]))
  const then = new Map(before.map(row => [row.key, measure(row, goal)]))
  // A day without clicks is 0 in counts, and a gap in ratios.
  const empty = chart === 'clicks' || chart === 'conversions' ? 0 : undefined
  return days.map(one => {
    const today = now.get(one)
    if (MONEY.has(chart))
      return {
        day: one,
        revenue: Number(today?.revenue ?? 0),
        cost: Number(today?.cost ?? 0),
        profit: numberOf(today?.profit) ?? 0,
      }
    const earlier = shiftDay(one, -shift)
    return {
      day: one,
      earlier,
      now: numberOf(today?.[chart]) ?? empty,
      before: numberOf(then.get(earlier)?.[chart]) ?? empty,
    }
  })
}

function drawn({ key, name, colour, look }: Series, points: number) {
  const dots = points <= 31 ? { r: 2, strokeWidth: 0, fill: colour, fillOpacity: 1 } : false
  const common = { dataKey: key, name, stroke: colour, isAnimationActive: false, type: 'linear' as const }
  if (look === 'area')
    return (
      <Area key={key} {...common} strokeWidth={2} fill={colour} fillOpacity={0.13} dot={dots} activeDot={{ r: 3.5 }} />
    )
  if (look === 'behind')
    return <Line key={key} {...common} strokeWidth={1.5} strokeDasharray="2 4" dot={false} activeDot={{ r: 2.5 }} />
  return <Line key={key} {...common} strokeWidth={2} dot={dots} activeDot={{ r: 3 }} />
}

/** The dashed line to the current day, which ends in a hollow dot. */
function drawnSoFar({ key, name, colour, look }: Series) {
  const common = { dataKey: soFar(key), name, stroke: colour, isAnimationActive: false, type: 'linear' as const }
  const dot = ({ cx, cy, index, points }: DotItemDotProps) =>
    index === points.length - 1 ? (
      <circle key={index} cx={cx} cy={cy} r={2.5} strokeWidth={1.5} stroke={colour} fill="var(--surface)" />
    ) : (
      <g key={index} />
    )
  const line = { ...common, strokeWidth: 2, strokeDasharray: '4 4', dot, activeDot: { r: 3.5 } }
  return look === 'area' ? (
    <Area key={soFar(key)} {...line} fill={colour} fillOpacity={0.06} />
  ) : (
    <Line key={soFar(key)} {...line} />
  )
}

function axisWords(chart: Chart, value: number, sign: string): string {
  if (chart === 'cr' || chart === 'roi') return `${compact(value * 100)}%`
  if (chart === 'epc') return `${sign}${perUnit(value)}`
  return MONEY.has(chart) ? `${value < 0 ? '−' : ''}${sign}${compact(Math.abs(value))}` : compact(value)
}

function valueWords(chart: Chart, value: number, sign: string): string {
  if (chart === 'cr' || chart === 'roi') return percent(value)
  if (chart === 'epc') return `${sign}${perUnit(value)}`
  return MONEY.has(chart) ? `${value < 0 ? '−' : ''}${sign}${money(String(Math.abs(value)))}` : count(value)
}

function Swatch({ colour, dashes }: { colour: string; dashes?: string | undefined }) {
  return (
    <svg aria-hidden viewBox="0 0 16 8" className="h-2 w-4 shrink-0">
      <path d="M0 4h16" stroke={colour} strokeWidth="2.5" strokeDasharray={dashes} />
    </svg>
  )
}

const dashesOf = ({ look }: Series) => (look === 'behind' ? '2 4' : undefined)

type KeyProps = { series: readonly Series[]; isRunning: boolean; chosen: string | undefined }

function Key({ series, isRunning, chosen }: KeyProps) {
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 pt-2 pl-3 text-sm text-ink-soft">
      {series.map(one => (
        <li key={one.key} className="flex items-center gap-1.5">
          <Swatch colour={one.colour} dashes={dashesOf(one)} />
          {one.name}
        </li>
      ))}
      {isRunning && (
        <li className="flex items-center gap-1.5">
          <Swatch colour="var(--ink-faint)" dashes="4 2" />
          Today so far
        </li>
      )}
      {!isUtc() && <li className="text-ink-faint">UTC days</li>}
      {chosen !== undefined && <li className="text-ink-faint">{`${day(chosen)} and the six days before it`}</li>}
    </ul>
  )
}

type TipProps = {
  label: string
  today: string
  chart: Chart
  sign: string
  entries: readonly { dataKey?: unknown; value?: unknown; payload?: unknown }[]
  series: readonly Series[]
  marks: readonly DayMark[]
}

function Tip({ label, today, chart, sign, entries, series, marks }: TipProps) {
  return (
    <div className="rounded-md border border-line bg-surface px-3 py-2 text-sm shadow-raised">
      <p className="mb-1 font-medium">{`${day(label)}${label === today ? ', so far' : ''}`}</p>
      <dl className="grid grid-cols-[auto_auto_auto] items-center gap-x-2 gap-y-0.5">
        {series.toReversed().map(one => {
          const entry =
            entries.find(({ dataKey, value }) => dataKey === one.key && value !== undefined) ??
            entries.find(({ dataKey }) => dataKey === soFar(one.key))
          if (typeof entry?.value !== 'number') return null
          const earlier = (entry.payload as Point)['earlier']
          return (
            <div key={one.key} className="contents">
              <Swatch colour={one.colour} dashes={dashesOf(one)} />
              <dt className="text-ink-soft">
                {one.look === 'behind' && typeof earlier === 'string' ? day(earlier) : one.name}
              </dt>
              <dd className="text-right font-medium">{valueWords(chart, entry.value, sign)}</dd>
            </div>
          )
        })}
      </dl>
      {marks
        .filter(mark => mark.day === label)
        .map(({ at, words }) => (
          <p key={`${at} ${words}`} className="mt-1 max-w-60 border-t border-line pt-1 wrap-anywhere">
            {words}
          </p>
        ))}
    </div>
  )
}
