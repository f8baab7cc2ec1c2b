// The results of the bench. Other programs read their names, and their budgets are promises.
import type { Ratio } from './ratio.ts'
import type { YardstickName } from './yardsticks.ts'

/** `of`: the budget is a ratio to this yardstick of the same run, because a limit in milliseconds would judge the machine. */
type Budget = { unit: string; budget: string; of?: YardstickName }

export const BUDGETS = {
  click_redirect_ratio: { unit: 'x', budget: '>= 0.25' },
  click_cost_ratio: { unit: 'x', budget: '>= 0.95' },
  channel_redirect_ratio: { unit: 'x', budget: '>= 0.9' },
  click_p99_ms: { unit: 'ms', budget: '<= 3', of: 'work' },
  visit_ratio: { unit: 'x', budget: '<= 1.3' },
  conversion_ratio: { unit: 'x', budget: '>= 0.2' },
  replay_ratio: { unit: 'x', budget: '>= 1.5' },
  report_p95_ms: { unit: 'ms', budget: '<= 0.7', of: 'scan' },
  report_growth: { unit: 'x', budget: '<= 1.5' },
  feed_p95_ms: { unit: 'ms', budget: '<= 1.2', of: 'work' },
  feed_depth_ratio: { unit: 'x', budget: '<= 1.2' },
  explore_p50_ms: { unit: 'ms', budget: '<= 2.5', of: 'scan' },
  explore_p95_ms: { unit: 'ms', budget: '<= 12', of: 'scan' },
  explore_pg_ratio: { unit: 'x', budget: '>= 4' },
  explore_memory_mb: { unit: 'MB', budget: '<= 400' },
  explore_sealing_us: { unit: 'us', budget: '<= 10', of: 'work' },
  mcp_call_ratio: { unit: 'x', budget: '<= 3' },
  memory_mb: { unit: 'MB', budget: '<= 300' },
  start_ms: { unit: 'ms', budget: '<= 13', of: 'bare start' },
  first_start_ms: { unit: 'ms', budget: '<= 3', of: 'bare first start' },
  broadcast_per_second: { unit: '/s', budget: '>= 24' },
} as const satisfies Record<string, Budget>
export type RowName = keyof typeof BUDGETS

/** `ratio`: for a row that is judged by a ratio, the median of its windows and its interval; of a row of `unit` x it is the value itself. */
type Row = { name: RowName; value: number; unit: string; budget: string; pass: boolean; ratio: Ratio | null }

/** A row with its reference of the same run, and other lines that explain the value. */
export type Finding = Row & { beside: string[] }

/** A second condition that the number does not show, with the words for a row that misses it. */
type Also = { holds: boolean; otherwise: string }

/**
 * Judges a value by its budget: one that is `measured` once as it stands, a ratio by its interval, which misses the budget only if the whole of it is on
 * the wrong side.
 * @throws if nothing was measured.
 */
export function finding(name: RowName, measured: number | Ratio, beside: string[], also?: Also): Finding {
  return typeof measured === 'number'
    ? judge(name, measured, { low: measured, high: measured }, null, beside, also)
    : judge(name, measured.median, measured, measured, beside, also)
}

/** As `finding`, for a value in a unit of time whose budget is a ratio to a yardstick. `yardstick` says what that took. */
export function findingOf(
  name: RowName,
  value: number,
  ratio: Ratio,
  yardstick: string,
  beside: string[],
  also?: Also,
): Finding {
  return judge(name, value, ratio, ratio, [`reference: ${yardstick}`, ...beside], also)
}

function judge(
  name: RowName,
  measured: number,
  { low, high }: Pick<Ratio, 'low' | 'high'>,
  ratio: Ratio | null,
  beside: string[],
  also?: Also,
): Finding {
  if (!Number.isFinite(measured)) throw new Error(`${name} could not be measured`)
  const { unit, budget, of }: Budget = BUDGETS[name]
  const [sign, limit] = budget.split(' ')
  const isKept = sign === '>=' ? high >= Number(limit) : low <= Number(limit)
  return {
    name,
    value: short(measured),
    unit,
    budget: of === undefined ? budget : `${budget} x ${of}`,
    pass: isKept && also?.holds !== false,
    ratio,
    beside: also?.holds === false ? [`MISSED because ${also.otherwise}`, ...beside] : beside,
  }
}

const short = (value: number): number => Number(value.toPrecision(value >= 1000 ? 6 : 4))

export const ratioText = ({ median, low, high, windows }: Ratio): string =>
  `${short(median)} x (${short(low)} to ${short(high)}, ${windows} windows)`

/** A table to read: each row, and its references below it. */
export function tableOf(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ name, value, unit, budget, pass, ratio, beside }) => [
    `${name.padEnd(22)}${`${value} ${unit}`.padStart(12)}   ${budget.padEnd(26)} ${pass ? 'met' : 'MISSED'}`,
    ...[...(ratio === null ? [] : [ratioText(ratio)]), ...beside].map(line => `    ${line}`),
  ])
  return lines.join('\n')
}
