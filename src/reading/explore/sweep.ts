/**
 * Removes local copies that must not stay: those of deleted organizations, and those begun before days of the organization were anonymised, because
 * they may still distinguish visitors. A later question fills a new copy.
 */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { MINUTE_MS } from '../../contract/days.ts'
import { timeOfId } from '../../contract/ids.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'
import { copyNamed } from './copy-file.ts'

const PAUSE_MS = 30 * MINUTE_MS
/** Clocks of processes differ by less than this. */
const ABOUT_MS = MINUTE_MS
/** Staged files are needed for less than this. */
const STAGED_MS = 10 * MINUTE_MS

const IS_THERE = 'select 1 from organizations where org_id = $1 and deleted_at is null'
/** Ids of segments hold their time. */
const LAST_EMPTIED = 'select id from segments where org_id = $1 and is_emptied order by id desc limit 1'

/** Opens the periodic sweep of the folder. Processes may share the folder. */
export function openSweep({ database, log }: Pick<Ground, 'database' | 'log'>, folder: string): Rounds {
  return openRounds(
    'explore/sweep',
    PAUSE_MS,
    signal => sweep(database.worker, folder, signal),
    error => log.warn({ err: error }, 'could not sweep the local files of Explore; retrying'),
  )
}

/** Sweeps the folder once. @throws database errors */
export async function sweep(pool: pg.Pool, folder: string, signal?: AbortSignal): Promise<void> {
  for (const name of await namesIn(folder)) {
    if (signal?.aborted) return
    const org_id = Number(name)
    if (Number.isSafeInteger(org_id)) await sweepOrganization(pool, join(folder, name), org_id)
  }
}

async function sweepOrganization(pool: pg.Pool, place: string, org_id: number): Promise<void> {
  const names = await namesIn(place)
  const isThere = (await pool.query(IS_THERE, [org_id])).rows.length > 0
  const { rows } = await pool.query<{ id: string }>(LAST_EMPTIED, [org_id])
  const [emptied] = rows
  const from = emptied === undefined ? 0 : timeOfId(emptied.id) + ABOUT_MS
  for (const name of names) {
    const begun_ms = copyNamed(name)?.begun_ms
    // A process that has it open keeps it until it ends.
    if (begun_ms !== undefined && (!isThere || begun_ms < from)) await rm(join(place, name), { force: true })
    else if (name.startsWith('staged-') && (await ageOf(join(place, name))) > STAGED_MS)
      await rm(join(place, name), { recursive: true, force: true })
  }
}

/** The names in a folder; none where it does not exist. */
const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])

const ageOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => 0,
  )
