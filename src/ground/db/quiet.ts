/**
 * Lets periodic jobs rest while nothing can be due. One question a second for all jobs of a process: has any transaction been committed since? Two
 * equal snapshots of PostgreSQL see the same rows, so a job that found nothing would find nothing again, except work whose time has come: each job
 * says when its next work is due. Asking is free of locks and does not touch a table. On a cluster it asks each node once, instead of every shard.
 */
import type pg from 'pg'
import { type Among, askEverywhere } from './everywhere.ts'
import { openSharded } from './sharing.ts'

/** As often as jobs that nobody wakes look for new work. */
export const QUIET_MS = 1000
/** The pause after a question, as a multiple of its duration, so that all jobs look less often while the server is busy. */
const REST = 10
const MOST_REST_MS = 5000
/** All jobs look again after this time, whatever the snapshots say. */
const LONGEST_MS = 15_000

const SNAPSHOT = 'select pg_current_snapshot()::text as seen, true as is_whole'
const SNAPSHOTS = `
  select string_agg(result, ' ' order by nodeid) as seen, bool_and(success) as is_whole
  from run_command_on_all_nodes('select pg_current_snapshot()::text')`

/** Selects one row `at`: the earliest time after now() at which work is due, or null. */
export type NextDue = (among: Among) => string

export type Quiet = {
  /** Differs from an earlier number if since then the database may have changed, or work may have become due. */
  version(): number
  /** Resolves as soon as the number differs from `version`; never, once the last user has closed its own. */
  since(version: number): Promise<void>
  /** Calls `act` each time the number changes, until this is closed. */
  onMove(act: () => void): void
  close(): void
}

type Watcher = {
  version: number
  moved: PromiseWithResolvers<void>
  readonly dues: Set<NextDue>
  readonly acts: Set<() => void>
  users: number
  close(): void
}
const watchers = new WeakMap<object, Watcher>()

/** The quiet of the database behind this pool, shared by all who use it. `due`: when work of the caller is due that no change announces. */
export function openQuiet(pool: pg.Pool, due?: NextDue): Quiet {
  const known = watchers.get(pool)
  const watcher = known ?? watch(pool)
  if (known === undefined) watchers.set(pool, watcher)
  watcher.users += 1
  if (due !== undefined) watcher.dues.add(due)
  let mine: (() => void) | undefined
  return {
    version: () => watcher.version,
    async since(version) {
      if (watcher.version === version) await watcher.moved.promise
    },
    onMove(act) {
      mine = act
      watcher.acts.add(act)
    },
    close() {
      if (mine !== undefined) watcher.acts.delete(mine)
      if (due !== undefined) watcher.dues.delete(due)
      watcher.users -= 1
      if (watcher.users > 0) return
      watchers.delete(pool)
      watcher.close()
    },
  }
}

function watch(pool: pg.Pool): Watcher {
  const isSharded = openSharded(pool)
  let seen: string | undefined
  let moved_at = performance.now()
  let isDueKnown = false
  let isAsking = false
  let rests_until = 0
  let due: NodeJS.Timeout | undefined
  const watcher: Watcher = {
    version: 0,
    moved: Promise.withResolvers(),
    dues: new Set(),
    acts: new Set(),
    users: 0,
    close() {
      clearInterval(asking)
      clearTimeout(due)
    },
  }
  const move = () => {
    clearTimeout(due)
    isDueKnown = false
    moved_at = performance.now()
    watcher.version += 1
    watcher.moved.resolve()
    watcher.moved = Promise.withResolvers()
    for (const act of watcher.acts) act()
  }
  const ask = async () => {
    const begun = performance.now()
    const { rows } = await pool.query<{ seen: string; is_whole: boolean }>(isSharded() ? SNAPSHOTS : SNAPSHOT)
    const answered = performance.now()
    rests_until = answered + Math.min(REST * (answered - begun), MOST_REST_MS)
    const { seen: now, is_whole } = rows[0] ?? { is_whole: false }
    const isSame = is_whole && now === seen
    seen = now
    if (!isSame || performance.now() - moved_at >= LONGEST_MS) return move()
    if (isDueKnown) return
    // Asked once for each quiet time, and not at all while the database is busy.
    const version = watcher.version
    const next_ms = await nextDue(pool, [...watcher.dues])
    if (version !== watcher.version) return
    isDueKnown = true
    if (next_ms !== undefined && next_ms < LONGEST_MS) due = setTimeout(move, next_ms).unref()
  }
  const asking = setInterval(() => {
    // A database that does not answer: each job finds out for itself, as if there were no quiet.
    if (isAsking) return move()
    if (performance.now() < rests_until) return
    isAsking = true
    void ask()
      .catch(() => {
        seen = undefined
        move()
      })
      .finally(() => (isAsking = false))
  }, QUIET_MS).unref()
  return watcher
}

/** In how many milliseconds the next work is due; undefined if none is. */
async function nextDue(pool: pg.Pool, dues: readonly NextDue[]): Promise<number | undefined> {
  if (dues.length === 0) return undefined
  const text = (among: Among) => `
    select (extract(epoch from min(at) - now()) * 1000)::float8 as ms from (${dues.map(due => due(among)).join(' union all ')}) as next`
  const { rows } = await askEverywhere<{ ms: number | null }>(pool, text)
  return rows[0]?.ms ?? undefined
}
