/**
 * Takes away local files of what is no longer there: segments that were replaced, emptied or deleted and that no question has asked for since,
 * those of deleted organizations, and what questions of a process that died have left. A file that is missed is fetched again.
 */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import type { Ground } from '../../ground/room.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'

const PAUSE_MS = 30 * 60_000
/** Longer than a question takes, which may read what it has found. */
const KEPT_MS = 60_000

const THERE = `
  select id from segments where org_id = $1 and id = any($2::uuid[])
    and exists (select from organizations where org_id = $1 and deleted_at is null)`

/** Opens the sweeping of the folder, which goes round until it is closed. Processes may share it. */
export function openSweep({ database, log }: Pick<Ground, 'database' | 'log'>, folder: string): Rounds {
  return openRounds(
    PAUSE_MS,
    signal => sweep(database.worker, folder, { signal }),
    error => log.warn({ err: error }, 'local files of Explore were not looked through; it is tried again'),
  )
}

type How = { readonly kept_ms?: number; readonly signal?: AbortSignal }

/** Looks through the folder once. Files that are younger than `kept_ms` stay. @throws what the database says */
export async function sweep(pool: pg.Pool, folder: string, { kept_ms = KEPT_MS, signal }: How = {}): Promise<void> {
  for (const org of await namesIn(folder)) {
    if (signal?.aborted) return
    const org_id = Number(org)
    if (Number.isSafeInteger(org_id)) await sweepOrganization(pool, join(folder, org), org_id, kept_ms)
  }
}

async function sweepOrganization(pool: pg.Pool, folder: string, org_id: number, kept_ms: number): Promise<void> {
  const found: { path: string; id: string }[] = []
  for (const place of await namesIn(folder)) {
    if (place.startsWith('d='))
      for (const name of await namesIn(join(folder, place)))
        found.push({ path: join(folder, place, name), id: name.slice(0, 36) })
    else if (place.startsWith('tail-')) await removeOld(join(folder, place), kept_ms)
  }
  const isSegment = ({ id, path }: { id: string; path: string }) => path.endsWith(`${id}.parquet`) && UUID.test(id)
  const ids = found.filter(isSegment).map(({ id }) => id)
  const { rows } = await pool.query<{ id: string }>(THERE, [org_id, ids])
  const there = new Set(rows.map(({ id }) => id))
  for (const one of found) if (!isSegment(one) || !there.has(one.id)) await removeOld(one.path, kept_ms)
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The names in a folder; none where it has gone. */
const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])

async function removeOld(path: string, kept_ms: number): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (found !== undefined && Date.now() - found.mtimeMs >= kept_ms) await rm(path, { recursive: true, force: true })
}
