// The results of the bench. Other programs read their names, and their budgets are promises.

export const BUDGETS = {
  click_redirect_ratio: { unit: 'x', budget: '>= 0.25' },
  click_cost_ratio: { unit: 'x', budget: '>= 0.95' },
  channel_redirect_ratio: { unit: 'x', budget: '>= 0.9' },
  click_p99_ms: { unit: 'ms', budget: '<= 25' },
  conversion_ratio: { unit: 'x', budget: '>= 0.2' },
  replay_ratio: { unit: 'x', budget: '>= 1.5' },
  report_p95_ms: { unit: 'ms', budget: '<= 30' },
  report_growth: { unit: 'x', budget: '<= 1.5' },
  feed_p95_ms: { unit: 'ms', budget: '<= 10' },
  feed_depth_ratio: { unit: 'x', budget: '<= 1.2' },
  explore_p50_ms: { unit: 'ms', budget: '<= 150' },
  explore_p95_ms: { unit: 'ms', budget: '<= 600' },
  explore_pg_ratio: { unit: 'x', budget: '>= 4' },
  explore_memory_mb: { unit: 'MB', budget: '<= 600' },
  explore_sealing_us: { unit: 'us', budget: '<= 80' },
  mcp_call_ratio: { unit: 'x', budget: '<= 3' },
  memory_mb: { unit: 'MB', budget: '<= 300' },
  start_ms: { unit: 'ms', budget: '<= 3000' },
  first_start_ms: { unit: 'ms', budget: '<= 6000' },
  broadcast_per_second: { unit: '/s', budget: '>= 24' },
} as const
type RowName = keyof typeof BUDGETS

type Row = { name: RowName; value: number; unit: string; budget: string; pass: boolean }

/** A row with its reference of the same run, and other lines that explain the value. */
export type Finding = Row & { beside: string[] }

/**
 * Judges a value by its budget. `also` is a second condition that the number does not show.
 * @throws if nothing was measured.
 */
export function finding(name: RowName, measured: number, beside: string[], also = true): Finding {
  if (!Number.isFinite(measured)) throw new Error(`${name} could not be measured`)
  const { unit, budget } = BUDGETS[name]
  const [sign, limit] = budget.split(' ')
  const value = Number(measured.toPrecision(measured >= 1000 ? 6 : 4))
  const isKept = sign === '>=' ? value >= Number(limit) : value <= Number(limit)
  return { name, value, unit, budget, pass: isKept && also, beside }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

/** A table to read: each row, and its references below it. */
export function tableOf(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ name, value, unit, budget, pass, beside }) => [
    `${name.padEnd(22)}${`${value} ${unit}`.padStart(12)}   ${budget.padEnd(9)} ${pass ? 'met' : 'MISSED'}`,
    ...beside.map(line => `    ${line}`),
  ])
  return lines.join('\n')
}
