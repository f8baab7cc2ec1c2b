/** The figures of the window with their change against the previous days. Each is a button that draws it in the chart. */
import { clsx } from 'clsx'
import { FIGURES, figureOf } from '../../../contract/figures.ts'
import { compact, count, money, NONE, percent, perUnit, signOf } from '../../ground/figures/figures.ts'
import { type Measures, measure, numberOf, type WireReport, type Totals } from '../../ground/figures/measures.ts'
import { CHARTS, type Chart, type Goal } from '../../ground/figures/search.ts'

const SHOW: Record<Chart, (measures: Measures, sign: string) => string> = {
  clicks: ({ clicks }) => count(clicks),
  conversions: ({ conversions }) => count(conversions),
  cr: ({ cr }) => percent(cr),
  revenue: ({ revenue }, sign) => `${sign}${money(revenue)}`,
  cost: ({ cost }, sign) => (cost === undefined ? NONE : `${sign}${money(cost)}`),
  profit: ({ profit }, sign) =>
    profit === undefined ? NONE : `${profit.startsWith('-') ? '−' : ''}${sign}${money(profit.replace('-', ''))}`,
  roi: ({ roi }) => percent(roi, true),
  epc: ({ epc }, sign) => (epc === undefined ? NONE : `${sign}${perUnit(epc)}`),
}

/** The name of a figure; conversions have the name of their goal. */
export function chartWords(chart: Chart, goal: string): string {
  if (chart === 'conversions') return goal
  return chart === 'cr' && goal !== FIGURES.conversions.name ? `${FIGURES.cr.name} ${goal}` : figureOf(chart).name
}

const OF_MONEY: ReadonlySet<Chart> = new Set(['revenue', 'cost', 'profit', 'roi', 'epc'])

/** Revenue, cost and what is computed from them: compared by whole days only, because spend is booked by the day. */
export const isOfMoney = (chart: Chart): boolean => OF_MONEY.has(chart)

type Change = { words: string; tone: string }

const NEUTRAL = 'text-ink-soft'

/** Ratios are compared by their difference in points, sums by their growth. */
function changeOf(chart: Chart, now: Measures, then: Measures): Change | undefined {
  const [is, was] = [numberOf(now[chart]), numberOf(then[chart])]
  if (is === undefined || was === undefined) return undefined
  const tone = toneOf(chart, is, was)
  if (chart === 'cr' || chart === 'roi') {
    const points = (is - was) * 100
    const words = `${points > 0 ? '+' : '−'}${Math.abs(points).toFixed(Math.abs(points) < 10 ? 2 : 0)} pp`
    return Math.abs(points) < 0.005 ? undefined : { words, tone }
  }
  if (was <= 0 || is === was) return undefined
  return { words: percent(is / was - 1, true), tone }
}

/** More cost or clicks are neither good nor bad, and a smaller loss is not good. */
function toneOf(chart: Chart, is: number, was: number): string {
  if (chart === 'cost' || chart === 'clicks') return NEUTRAL
  if (is < was) return 'text-bad'
  return is < 0 ? NEUTRAL : 'text-good'
}

type TilesProps = {
  totals: Totals
  /** The previous days: `alike` up to the same time of day, `whole` for money. */
  before: { alike: WireReport | undefined; whole: WireReport | undefined }
  /** The window has a day that is not over: its money is marked as so far and not compared with whole days. */
  running: boolean
  goal: Goal
  goalWords: string
  chart: Chart
  days: number
  currency: string
  onChart: (chart: Chart) => void
}

export function Tiles({ totals, before, running, goal, goalWords, chart, days, currency, onChart }: TilesProps) {
  const sign = signOf(currency)
  const now = measure(totals, goal)
  const measured = (report: WireReport | undefined) => (report === undefined ? undefined : measure(report.totals, goal))
  const [alike, whole] = [measured(before.alike), measured(before.whole)]
  return (
    <fieldset
      aria-label="Figures of these days; press one to show it in the chart"
      className="grid grid-cols-2 gap-px border-b border-line bg-line sm:grid-cols-4 xl:grid-cols-8"
    >
      {CHARTS.map(one => (
        <button
          key={one}
          type="button"
          aria-pressed={one === chart}
          onClick={() => onChart(one)}
          className={clsx(
            'relative min-w-0 bg-surface px-3.5 pt-3 pb-2 text-left -outline-offset-2 hover:bg-sunken/50 xl:px-2.5 2xl:px-3.5',
            one === chart && 'before:absolute before:inset-x-0 before:top-0 before:h-0.75 before:bg-accent',
          )}
        >
          <span className={clsx('block truncate text-sm', one === chart ? 'font-medium text-accent' : NEUTRAL)}>
            {chartWords(one, goalWords)}
            {running && isOfMoney(one) && <span className="font-normal text-ink-faint"> so far</span>}
          </span>
          <Value text={SHOW[one](now, sign)} />
          <Against
            chart={one}
            sign={sign}
            now={now}
            then={isOfMoney(one) ? whole : alike}
            soFar={running && isOfMoney(one)}
            span={days === 1 ? 'day before' : `${days} days before`}
          />
        </button>
      ))}
    </fieldset>
  )
}

/** A long figure is smaller, because eight in a row leave little room and none may be cut off. */
function Value({ text }: { text: string }) {
  const size = text.length > 14 ? 'xl:text-base' : text.length > 11 ? 'xl:text-lg' : ''
  return (
    <span
      className={clsx(
        'block h-6.5 text-xl font-semibold tracking-tight whitespace-nowrap 2xl:text-xl',
        size,
        size && 'xl:leading-6.5',
      )}
    >
      {text}
    </span>
  )
}

type AgainstProps = {
  chart: Chart
  sign: string
  now: Measures
  then: Measures | undefined
  soFar: boolean
  span: string
}

/** The figure in the previous days, and its change where both periods are comparable. */
function Against({ chart, sign, now, then, soFar, span }: AgainstProps) {
  const change = then === undefined || soFar ? undefined : changeOf(chart, now, then)
  const was = then === undefined ? NONE : SHOW[chart](then, sign)
  const isShown = soFar ? was !== NONE : change !== undefined
  if (then === undefined || !isShown) return <span className="block h-4.5" />
  const title = soFar ? `${was} in all of the ${span}` : `${change?.words} from ${was} in the ${span}`
  return (
    <span className="block h-4.5 truncate text-sm text-ink-faint xl:text-xs xl:leading-4.5 2xl:text-sm" title={title}>
      {change !== undefined && <span className={change.tone}>{change.words} </span>}
      <span>{`${soFar ? 'before: ' : 'from '}${brief(chart, then, sign)}`}</span>
      <span className="sr-only">{` in ${soFar ? 'all of ' : ''}the ${span}`}</span>
    </span>
  )
}

/** Short enough for one line; the title has the whole figure. */
function brief(chart: Chart, measures: Measures, sign: string): string {
  const [value, text] = [numberOf(measures[chart]), SHOW[chart](measures, sign)]
  if (value === undefined || chart === 'cr' || chart === 'roi' || chart === 'epc') return text
  if (chart === 'clicks' || chart === 'conversions') return compact(value)
  return Math.abs(value) < 1000 ? text : `${value < 0 ? '−' : ''}${sign}${compact(Math.abs(value))}`
}
