/**
 * Segments as files beside the process that scans: DATA_DIR/explore/<organization>/d=<day>/<segment>.parquet. Only a copy of what the database
 * has, which may be lost at any time; files are never changed, so several processes may share them.
 */
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { DAY_MS } from '../../contract/days.ts'
import { newId } from '../../contract/ids.ts'
import type { Config } from '../../ground/config.ts'
import { encode, MOST_ROWS } from '../segments/parquet.ts'
import type { Segment, Snapshot } from './snapshot.ts'

/** Where files are that are scanned, and nothing else. */
export const folderOf = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'explore')

/** As many rows as are fetched at a time: some twenty megabytes. */
const ROWS_AT_ONCE = 500_000
/** A question that began before a segment was replaced may still read its file. */
const KEPT_UNNAMED_MS = 60_000

export type Files = {
  /** The paths of these segments, fetched where they are not here; undefined where one is no longer in the database. */
  have(reads: Pick<pg.Pool, 'query'>, org_id: number, segments: readonly Segment[]): Promise<string[] | undefined>
  /** Writes what is in no segment yet for one question; `drop` takes it away. */
  lay(org_id: number, tail: Snapshot['tail']): Promise<{ paths: string[]; drop(): Promise<void> }>
  /** Looks anew at what is there, because it was not as expected: those of the organization are fetched again. */
  forget(org_id: number): Promise<void>
}

/** Under its name a file is whole, or not there. */
async function writeAside(path: string, body: Uint8Array): Promise<void> {
  const aside = `${path}.${newId()}.part`
  await writeFile(aside, body, { mode: 0o600 })
  await rename(aside, path)
}

/** Writes the facts of a tail as files of `own`, which is theirs alone. */
async function layTail(own: string, tail: Snapshot['tail']) {
  const paths: string[] = []
  for (const { day, rows } of tail) {
    const place = join(own, `d=${dayNumber(day)}`)
    await mkdir(place, { recursive: true, mode: 0o700 })
    for (let at = 0; at < rows.length; at += MOST_ROWS) {
      const path = join(place, `${at}.parquet`)
      await writeFile(path, encode(rows.slice(at, at + MOST_ROWS)), { mode: 0o600 })
      paths.push(path)
    }
  }
  return { paths, drop: () => rm(own, { recursive: true, force: true }) }
}

const dayNumber = (day: string) => Date.parse(`${day}T00:00:00Z`) / DAY_MS

export function openFiles(folder: string): Files {
  const here = new Map<string, Set<string>>()
  const placeOf = (org_id: number, day: string) => join(folder, String(org_id), `d=${dayNumber(day)}`)

  /** What is in the folder of a day, by the name of the segment. */
  async function namesIn(place: string): Promise<Set<string>> {
    const known = here.get(place)
    if (known !== undefined) return known
    await mkdir(place, { recursive: true, mode: 0o700 })
    const names = new Set((await readdir(place)).filter(name => name.endsWith('.parquet')))
    here.set(place, names)
    return names
  }

  async function fetchBodies(reads: Pick<pg.Pool, 'query'>, org_id: number, missing: readonly Segment[]) {
    for (const part of parted(missing)) {
      const { rows } = await reads.query<{ id: string; body: Buffer }>(
        'select id, body from segments where org_id = $1 and id = any($2::uuid[])',
        [org_id, part.map(({ id }) => id)],
      )
      if (rows.length < part.length) return false
      const days = new Map(part.map(({ id, day }) => [id, day]))
      for (const { id, body } of rows) await put(placeOf(org_id, days.get(id) ?? ''), `${id}.parquet`, body)
    }
    return true
  }

  async function put(place: string, name: string, body: Uint8Array): Promise<void> {
    await writeAside(join(place, name), body)
    here.get(place)?.add(name)
  }
  /** Files of segments that were replaced. */
  async function tidy(place: string, wanted: ReadonlySet<string>): Promise<void> {
    const names = here.get(place) ?? new Set()
    for (const name of names) {
      if (wanted.has(name)) continue
      const found = await stat(join(place, name)).catch(() => undefined)
      if (found !== undefined && Date.now() - found.mtimeMs < KEPT_UNNAMED_MS) continue
      await rm(join(place, name), { force: true })
      names.delete(name)
    }
  }

  return {
    async have(reads, org_id, segments) {
      const byPlace = new Map<string, Set<string>>()
      const missing: Segment[] = []
      for (const segment of segments) {
        const place = placeOf(org_id, segment.day)
        const wanted = byPlace.get(place) ?? new Set()
        byPlace.set(place, wanted.add(`${segment.id}.parquet`))
        if (!(await namesIn(place)).has(`${segment.id}.parquet`)) missing.push(segment)
      }
      if (!(await fetchBodies(reads, org_id, missing))) return undefined
      for (const [place, wanted] of byPlace) await tidy(place, wanted)
      return segments.map(({ id, day }) => join(placeOf(org_id, day), `${id}.parquet`))
    },
    lay: (org_id, tail) => layTail(join(folder, String(org_id), `tail-${newId()}`), tail),
    async forget(org_id) {
      const own = join(folder, String(org_id))
      for (const place of here.keys()) if (place.startsWith(`${own}/`)) here.delete(place)
      await rm(own, { recursive: true, force: true })
    },
  }
}

function parted(segments: readonly Segment[]): Segment[][] {
  const parts: Segment[][] = []
  let rows = ROWS_AT_ONCE
  for (const segment of segments) {
    if (rows + segment.rows > ROWS_AT_ONCE) {
      parts.push([])
      rows = 0
    }
    rows += segment.rows
    parts.at(-1)?.push(segment)
  }
  return parts
}
