// Reads what a soak judges: memory, processor time and files of the processes, sizes on the disk, and PostgreSQL's own counts.
import { readFileSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'
import { handlesOf } from '../../tests/support/sluice.ts'
import { postmasterOf, processorSpent, type ProcessStat, readProcesses, type Spent } from '../processor.ts'
import { ticks } from '../neighbours.ts'
import { median } from '../ratio.ts'
import type { Measured } from '../load.ts'
import type { AskedMs } from './errands.ts'
import type { Stage } from './stage.ts'

/** Resident megabytes: of Sluice and of each kind of its children, and the proportional share of all processes of PostgreSQL. */
export type Memory = Record<string, number>

/** Rates per second and milliseconds of a window. */
export type WindowPace = Pick<Measured, 'answered' | 'per_second' | 'statuses' | 'p50' | 'p99'>
export type TableState = { dead: number; live: number; vacuums: number }

/** One window of a soak. `at_s` is its end. */
export type SoakPoint = {
  at_s: number
  memory_mb: Memory
  redirects: WindowPace
  conversions: WindowPace
  /** Processors used in the window: 1 is one of them all the time. `machine`: by all processes of this machine, the load and neighbours included. */
  processors: Spent & { machine: number }
  handles: number
  database_mb: number
  /** Without the folder of PostgreSQL, which `database_mb` counts. */
  data_dir_mb: number
  deliveries_waiting: number
  /** Rows of changes that are not folded into the report yet, or not sealed for Explore. */
  unfolded: number
  unsealed: number
  asked_ms: AskedMs
  tables: Record<string, TableState>
}

const CHILDREN: Record<string, string> = { 'engine-child.ts': 'scanning', 'keeping-child.ts': 'sealing' }

/** Reads the memory of Sluice `pid`, its children, and the PostgreSQL of `dataDir`. */
export function readMemory(pid: number, dataDir: string): Memory {
  const all = readProcesses()
  const memory: Memory = { sluice: sizeOf(pid, 'Rss') ?? 0, scanning: 0, sealing: 0, postgres: 0 }
  for (const child of familyOf(all, pid)) {
    const name = nameOf(child)
    memory[name] = (memory[name] ?? 0) + (sizeOf(child, 'Rss') ?? 0)
  }
  // Resident pages of the shared buffers count in each process that touched them, so shares are added up.
  const postmaster = postmasterOf(dataDir)
  const shares = [postmaster, ...familyOf(all, postmaster)].map(one => sizeOf(one, 'Pss') ?? 0)
  memory['postgres'] = shares.reduce((sum, one) => sum + one, 0)
  return memory
}

function familyOf(all: readonly ProcessStat[], parent: number): number[] {
  return all.filter(one => one.parent === parent).flatMap(({ pid }) => [pid, ...familyOf(all, pid)])
}

function nameOf(pid: number): string {
  const words = (readIfThere(`/proc/${pid}/cmdline`) ?? '').split('\0')
  const file = basename(words.find(word => /\.[jt]s$/.test(word)) ?? words[0] ?? 'other')
  return CHILDREN[file] ?? file
}

function sizeOf(pid: number, what: 'Rss' | 'Pss'): number | undefined {
  const kb = new RegExp(`^${what}:\\s+(\\d+) kB`, 'm').exec(readIfThere(`/proc/${pid}/smaps_rollup`) ?? '')?.[1]
  return kb === undefined ? undefined : Number(kb) / 1024
}

/** Undefined for a process that has ended meanwhile. */
function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** The median of each process in the readings of a window. */
export function medianMemory(readings: readonly Memory[]): Memory {
  const names = new Set(readings.flatMap(one => Object.keys(one)))
  return Object.fromEntries([...names].map(name => [name, median(readings.map(one => one[name] ?? 0))]))
}

export const paceOf = ({ answered, per_second, statuses, p50, p99 }: Measured): WindowPace => ({
  answered,
  per_second,
  statuses,
  p50,
  p99,
})

/** What was used until a moment: microseconds by kind, and the ticks of the machine. */
export type Used = { at: number; spent: Spent; machine: ReturnType<typeof ticks> }

export const readUsed = ({ server, ground }: Pick<Stage, 'server' | 'ground'>): Used => ({
  at: performance.now(),
  spent: processorSpent(server.pid, ground.dataDir),
  machine: ticks(),
})

/** The processors used between two moments. */
export function processorsBetween(before: Used, now: Used): SoakPoint['processors'] {
  const share = (kind: keyof Spent) => (now.spent[kind] - before.spent[kind]) / 1000 / (now.at - before.at)
  const part = (now.machine.busy - before.machine.busy) / (now.machine.all - before.machine.all)
  return {
    sluice: share('sluice'),
    children: share('children'),
    postgres: share('postgres'),
    machine: part * availableParallelism(),
  }
}

const COUNTS = `select pg_database_size(current_database())::text as bytes,
  (select count(*)::int from deliveries where state = 'pending') as deliveries,
  (select count(*)::int from counter_sheet) + (select count(*)::int from report_sheet) as unfolded,
  (select count(*)::int from click_sheet) as unsealed`
const TABLES = `select relname as name, n_dead_tup::int as dead, n_live_tup::int as live, autovacuum_count::int as vacuums
  from pg_stat_user_tables where n_dead_tup > 0 or autovacuum_count > 0 order by relname`

type CountsRow = { bytes: string; deliveries: number; unfolded: number; unsealed: number }

/** Reads everything that neither the load nor the errands measure. */
export async function readStanding({ ground, server }: Stage) {
  const { dataDir, database } = ground
  const { rows } = await database.worker.query<CountsRow>(COUNTS)
  const [counts] = rows
  const tables = await database.worker.query<TableState & { name: string }>(TABLES)
  return {
    handles: handlesOf({ child: { pid: server.pid }, address: `http://127.0.0.1:${server.port}` }),
    database_mb: Number(counts?.bytes) / 1024 / 1024,
    data_dir_mb: (await folderBytes(dataDir, 'postgres')) / 1024 / 1024,
    deliveries_waiting: counts?.deliveries ?? Number.NaN,
    unfolded: counts?.unfolded ?? Number.NaN,
    unsealed: counts?.unsealed ?? Number.NaN,
    tables: Object.fromEntries(tables.rows.map(({ name, ...state }) => [name, state])),
  }
}

/** The size of a folder without one of its own folders. Files that are removed meanwhile do not count. */
async function folderBytes(folder: string, without: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) bytes += entry.name === without ? 0 : await folderBytes(path, '')
    else
      bytes += await stat(path).then(
        ({ size }) => size,
        () => 0,
      )
  }
  return bytes
}
