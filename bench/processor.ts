// Processor time by process. It hardly changes with the neighbours, unlike a rate.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { median } from './ratio.ts'

/** Linux counts in hundredths of a second on every machine. */
const TICK_US = 10_000

/** Microseconds of processor time, of all ended and running processes of each kind. */
export type Spent = { sluice: number; children: number; postgres: number }

/** Times are in ticks; `ended` is that of ended children. */
export type ProcessStat = { pid: number; parent: number; own: number; ended: number }

/** What the server `pid`, its children (sealing and scans) and the PostgreSQL of `dataDir` have used since they started. */
export function processorSpent(pid: number, dataDir: string): Spent {
  const all = readProcesses()
  const postmaster = postmasterOf(dataDir)
  const server = all.find(one => one.pid === pid)
  return {
    sluice: (server?.own ?? 0) * TICK_US,
    children: (below(all, pid) + (server?.ended ?? 0)) * TICK_US,
    postgres: (below(all, postmaster) + sum(all.filter(one => one.pid === postmaster))) * TICK_US,
  }
}

/** Microseconds by kind per one of `count`, between two readings. */
export function perOne(before: Spent, after: Spent, count: number): Spent {
  return {
    sluice: (after.sluice - before.sluice) / count,
    children: (after.children - before.children) / count,
    postgres: (after.postgres - before.postgres) / count,
  }
}

/** The median of each kind. */
export function medianSpent(windows: readonly Spent[]): Spent {
  const by = (part: keyof Spent) => median(windows.map(spent => spent[part]))
  return { sluice: by('sluice'), children: by('children'), postgres: by('postgres') }
}

export const totalOf = ({ sluice, children, postgres }: Spent): number => sluice + children + postgres

export const spentText = (spent: Spent, what: string): string =>
  `${totalOf(spent).toFixed(0)} us of processor time per ${what}: ${spent.sluice.toFixed(0)} of Sluice, ${spent.postgres.toFixed(0)} of PostgreSQL, ${spent.children.toFixed(0)} of sealing and scans`

const sum = (processes: readonly ProcessStat[]): number =>
  processes.reduce((total, { own, ended }) => total + own + ended, 0)

function below(all: readonly ProcessStat[], parent: number): number {
  const children = all.filter(one => one.parent === parent)
  return children.reduce((total, { pid }) => total + below(all, pid), sum(children))
}

/** The process id of the embedded PostgreSQL of `dataDir`. */
export const postmasterOf = (dataDir: string): number =>
  Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n', 1)[0])

/** All processes of this machine. */
export function readProcesses(): ProcessStat[] {
  return readdirSync('/proc').flatMap(name => {
    if (!/^\d+$/.test(name)) return []
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      // Behind the name, which may contain anything: state, parent, …, and as the 12th to 15th the times.
      const fields = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number)
      const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15)
      return [{ pid: Number(name), parent: fields[1] ?? 0, own: user + system, ended: endedUser + endedSystem }]
    } catch {
      // It has ended meanwhile.
      return []
    }
  })
}
