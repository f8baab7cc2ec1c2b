/** Stages facts for the scanning process: Parquet files in a temporary folder, which is removed after they are read. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { newId } from '../../contract/ids.ts'
import { encode } from '../segments/parquet.ts'
import { dayNumber } from './columns.ts'
import type { DayRows } from '../segments/entries.ts'
import type { Segment } from './snapshot.ts'

type LaidRows = DayRows & { readonly sheet?: number }
type Staged = { readonly paths: readonly string[]; drop(): Promise<void> }

export type Files = {
  /** Writes the bodies of segments, the first of them numbered `number`; undefined where one is no longer in the database. */
  fetch(
    reads: Pick<pg.Pool, 'query'>,
    org_id: number,
    segments: readonly Segment[],
    number: number,
  ): Promise<Staged | undefined>
  /** Writes facts that are not sealed yet, with the numbers of their sheets as `s`, if they have one. */
  lay(org_id: number, tail: readonly LaidRows[]): Promise<Staged>
}

const BODIES = 'select id, body from segments where org_id = $1 and id = any($2::uuid[])'

/** Encoding so many facts blocks the process, which also redirects visitors, for some ten milliseconds. */
const FEW_ROWS = 1000
/** Each file of a day costs the question milliseconds. */
const MOST_FILES = 20

/** A temporary folder for files, which `drop` removes. The day and the segment's number are in the path of each file. */
function stage(folder: string, org_id: number) {
  const own = join(folder, String(org_id), `staged-${newId()}`)
  const paths: string[] = []
  return {
    paths,
    async put(place: readonly string[], body: Uint8Array): Promise<void> {
      const inside = join(own, ...place)
      await mkdir(inside, { recursive: true, mode: 0o700 })
      const path = join(inside, `${paths.length}.parquet`)
      await writeFile(path, body, { mode: 0o600 })
      paths.push(path)
    },
    drop: () => rm(own, { recursive: true, force: true }),
  }
}

export function openFiles(folder: string): Files {
  return {
    async fetch(reads, org_id, segments, number) {
      const staged = stage(folder, org_id)
      if (segments.length === 0) return staged
      const { rows } = await reads.query<{ id: string; body: Buffer }>(BODIES, [org_id, segments.map(({ id }) => id)])
      if (rows.length < segments.length) return undefined
      const bodies = new Map(rows.map(({ id, body }) => [id, body]))
      for (const [at, { id, day }] of segments.entries())
        await staged.put([`d=${dayNumber(day)}`, `s=${number + at}`], bodies.get(id) as Buffer)
      return staged
    },
    async lay(org_id, tail) {
      const staged = stage(folder, org_id)
      for (const [day, laid] of Map.groupBy(tail, one => one.day)) {
        const rows = laid.flatMap(one => one.rows)
        const sheets = laid.flatMap(({ rows, sheet }) => (sheet === undefined ? [] : rows.map(() => sheet)))
        for (let at = 0, size = Math.max(FEW_ROWS, Math.ceil(rows.length / MOST_FILES)); at < rows.length; at += size)
          await staged.put(
            [`d=${dayNumber(day)}`],
            encode(rows.slice(at, at + size), sheets.length === 0 ? undefined : sheets.slice(at, at + size)),
          )
      }
      return staged
    },
  }
}
