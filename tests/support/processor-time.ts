// What test files cost in processor time, their processes' children included. The shared PostgreSQL is none of them.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'

/** Where the processes of a run write what their files have cost. */
export const COSTS = 'SLUICE_TEST_COSTS'

/** Linux counts the children's time in hundredths of a second, whatever the machine. */
const TICK_MS = 10

/** The processor time of this process, and of the children that it has seen end, in milliseconds. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000 + childrenMs()
}

function childrenMs(): number {
  if (process.platform !== 'linux') return 0
  // Behind the name, which may hold anything: state, ppid, …, and as the 14th and 15th the time of the children.
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS
}

/** Notes what a file has cost, where somebody asked for it. */
export function noteCost(file: string, cost_ms: number): void {
  const costs = process.env[COSTS]
  if (costs !== undefined) appendFileSync(costs, `${JSON.stringify([file, Math.round(cost_ms)])}\n`)
}

/** What has been noted in the file `costs`, by test file. */
export function readCosts(costs: string): Map<string, number> {
  const lines = existsSync(costs) ? readFileSync(costs, 'utf8').split('\n').filter(Boolean) : []
  return new Map(lines.map(line => JSON.parse(line) as [string, number]))
}
