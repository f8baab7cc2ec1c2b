// Measures the processor time of test files, with their child processes but without the shared PostgreSQL.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'

/** The variable with the file in which the processes of a run write the costs of their test files. */
export const COSTS = 'SLUICE_TEST_COSTS'

/** Linux counts the children's time in hundredths of a second on every machine. */
const TICK_MS = 10

/** The processor time in milliseconds of this process and its ended children. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000 + childrenMs()
}

function childrenMs(): number {
  if (process.platform !== 'linux') return 0
  // After the name, which may contain anything, come state, ppid …; the 14th and 15th are the time of the children.
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS
}

/** Writes the cost of a test file, if the run collects costs. */
export function noteCost(file: string, cost_ms: number): void {
  const costs = process.env[COSTS]
  if (costs !== undefined) appendFileSync(costs, `${JSON.stringify([file, Math.round(cost_ms)])}\n`)
}

/** The costs in the file `costs`, by test file. */
export function readCosts(costs: string): Map<string, number> {
  const lines = existsSync(costs) ? readFileSync(costs, 'utf8').split('\n').filter(Boolean) : []
  return new Map(lines.map(line => JSON.parse(line) as [string, number]))
}
