/** The figures of the window. Each is a button that draws it in the chart, with its change against the days before. */
import { clsx } from 'clsx'
import { compact, count, money, NONE, percent, perUnit } from '../../ground/figures/figures.ts'
import { type Measures, measure, numberOf, type Totals } from '../../ground/figures/measures.ts'
import { CHARTS, type Chart, type Goal } from '../../ground/figures/search.ts'
import { inWords } from '../../ground/rungs.ts'

const SHOW: Record<Chart, (measures: Measures) => string> = {
  clicks: ({ clicks }) => count(clicks),
  goal: ({ goal }) => count(goal),
  cr: ({ cr }) => percent(cr),
  revenue: ({ revenue }) => `$${money(revenue)}`,
  cost: ({ cost }) => (cost === undefined ? NONE : `$${money(cost)}`),
  profit: ({ profit }) =>
    profit === undefined ? NONE : `${profit.startsWith('-') ? '−' : ''}$${money(profit.replace('-', ''))}`,
  roi: ({ roi }) => percent(roi, true),
  epc: ({ epc }) => (epc === undefined ? NONE : `$${perUnit(epc)}`),
}

export function chartWords(chart: Chart, goal: Goal): string {
  const words: Record<Chart, string> = {
    clicks: 'Clicks',
    goal: inWords(goal),
    cr: `CR ${inWords(goal)}`,
    revenue: 'Revenue',
    cost: 'Cost',
    profit: 'Profit',
    roi: 'ROI',
    epc: 'EPC',
  }
  return words[chart]
}

/** Ratios are compared by their difference in points, sums by their growth. */
function changeOf(chart: Chart, now: Measures, then: Measures | undefined): { words: string; up: boolean } | undefined {
  const [is, was] = [numberOf(now[chart]), then === undefined ? undefined : numberOf(then[chart])]
  if (is === undefined || was === undefined) return undefined
  if (chart === 'cr' || chart === 'roi') {
    const points = (is - was) * 100
    return Math.abs(points) < 0.005
      ? undefined
      : {
          words: `${points > 0 ? '+' : '−'}${Math.abs(points).toFixed(Math.abs(points) < 10 ? 2 : 0)} pp`,
          up: points > 0,
        }
  }
  if (was <= 0 || is === was) return undefined
  return { words: percent(is / was - 1, true), up: is > was }
}

type TilesProps = {
  totals: Totals
  before: Totals | undefined
  goal: Goal
  chart: Chart
  days: number
  onChart: (chart: Chart) => void
}

export function Tiles({ totals, before, goal, chart, days, onChart }: TilesProps) {
  const now = measure(totals, goal)
  const then = before === undefined ? undefined : measure(before, goal)
  const span = days === 1 ? 'the day before' : `the ${days} days before`
  return (
    <fieldset
      aria-label="Figures of the window; each shows itself in the chart"
      className="grid grid-cols-2 gap-px border-b border-line bg-line sm:grid-cols-4 2xl:grid-cols-8"
    >
      {CHARTS.map(one => {
        const change = changeOf(one, now, then)
        return (
          <button
            key={one}
            type="button"
            aria-pressed={one === chart}
            onClick={() => onChart(one)}
            className={clsx(
              'relative bg-surface px-4 pt-3 pb-2.5 text-left -outline-offset-2 hover:bg-sunken/50',
              one === chart && 'before:absolute before:inset-x-0 before:top-0 before:h-0.75 before:bg-accent',
            )}
          >
            <span className={clsx('block text-sm', one === chart ? 'font-medium text-accent' : 'text-ink-soft')}>
              {chartWords(one, goal)}
            </span>
            <span className="block text-xl font-semibold tracking-tight">{SHOW[one](now)}</span>
            <span className="block h-4.5 text-sm text-ink-faint">
              {change !== undefined && (
                <>
                  {/* More cost is neither good nor bad by itself. */}
                  <span
                    className={
                      one === 'cost' || one === 'clicks' ? 'text-ink-soft' : change.up ? 'text-good' : 'text-bad'
                    }
                  >
                    {change.words}
                  </span>
                  <span className="sr-only">{` against ${span}`}</span>
                  <span aria-hidden>{` from ${then === undefined ? '' : brief(one, then)}`}</span>
                </>
              )}
            </span>
          </button>
        )
      })}
    </fieldset>
  )
}

function brief(chart: Chart, measures: Measures): string {
  const value = measures[chart]
  return typeof value === 'number' && chart !== 'cr' && chart !== 'roi' && chart !== 'epc'
    ? compact(value)
    : SHOW[chart](measures)
}
