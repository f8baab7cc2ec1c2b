/**
 * Merges segments of a day: each sealing adds a segment, and rows of a changed click that cancel are in several segments. Merging keeps all sums and
 * needs no clicks, so it also works for days whose clicks are gone.
 */
import type pg from 'pg'
import { MINUTE_MS } from '../../contract/days.ts'
import type { Among } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'
import { openPace, type Pace } from '../../ground/pace.ts'
import { openRounds, organizationsWith, type Rounds } from '../../ground/rounds.ts'
import { emptied, type Losable, net, type FactRow } from './facts.ts'
import { decode, MOST_ROWS } from './parquet.ts'
import { type SegmentPart, partsOf } from './parts.ts'
import { insertSegments, withSegmentsLock } from './store.ts'

const PAUSE_MS = MINUTE_MS
/** So many segments of about one size become one. So each row is rewritten only a few times, and a day has at most some dozens of segments. */
const OF_A_SIZE = 8
/** With a larger share of rows of the sign -1, merging is worth it, because they and the rows that they cancel are read with every question. */
const TAKEN_SHARE = 0.1

const NEXT = (among: Among) =>
  `select org_id from explore_turns where org_id > $1${among('org_id')} order by org_id limit 1`
const CROWDED = `
  select id, day, is_emptied, rows, taken from segments
  where org_id = $1 and (day, is_emptied) in (
    select day, is_emptied from segments where org_id = $1 group by day, is_emptied
    having count(*) >= ${OF_A_SIZE} or (count(*) > 1 and sum(taken) > ${TAKEN_SHARE} * sum(rows))
  )
  order by day desc, rows, id`
const BODIES = 'select body from segments where org_id = $1 and id = any($2) order by id'
const THERE = 'select id from segments where org_id = $1 and id = any($2)'
const REMOVE = 'delete from segments where org_id = $1 and id = any($2)'

type Size = { readonly id: string; readonly rows: number; readonly taken: number }

/** Opens the periodic merging; any number of processes may run it. */
export function openMerging({ database, log }: Pick<Ground, 'database' | 'log'>): Rounds {
  const pace = openPace()
  return openRounds(
    'segments/merge',
    PAUSE_MS,
    signal => mergeAll(database.worker, { signal, pace }),
    error => log.warn({ err: error }, 'could not merge segments of Explore, which stay correct; retrying'),
  )
}

/** Merges all segments that are worth merging, at `pace` if given. @throws database errors */
export async function mergeAll(
  pool: pg.Pool,
  { signal, pace }: { signal?: AbortSignal; pace?: Pace } = {},
): Promise<void> {
  for await (const org_id of organizationsWith(NEXT, pool, signal)) {
    const { rows } = await pool.query<Size & { day: string; is_emptied: boolean }>(CROWDED, [org_id])
    for (const sizes of Map.groupBy(rows, ({ day, is_emptied }) => `${day} ${is_emptied}`).values()) {
      if (signal?.aborted) return
      const ids = segmentsToMerge(sizes).map(({ id }) => id)
      const { day, is_emptied } = sizes[0] as (typeof sizes)[number]
      if (ids.length < 2) continue
      const began = performance.now()
      await mergeSegments(pool, org_id, ids, { day, is_emptied })
      await pace?.rest(began, signal)
    }
  }
}

/**
 * The segments of a day to merge into one; `sizes` has the smallest first. These are the segments of the largest size of which there are enough, with
 * all smaller ones; or, where too many rows have the sign -1, as many as fit. None where nothing is worth merging.
 */
export function segmentsToMerge(sizes: readonly Size[]): readonly Size[] {
  const sizeOf = ({ rows }: Size) => Math.floor(Math.log(Math.max(rows, 1)) / Math.log(OF_A_SIZE))
  const crowds = [...Map.groupBy(sizes, sizeOf)].filter(([, { length }]) => length >= OF_A_SIZE)
  const most = Math.max(...crowds.map(([size]) => size))
  const sum = (of: 'rows' | 'taken') => sizes.reduce((all, one) => all + one[of], 0)
  const isWorn = sum('taken') > TAKEN_SHARE * sum('rows')
  if (crowds.length === 0 && !isWorn) return []
  let left = MOST_ROWS
  const some: Size[] = []
  for (const one of sizes) {
    left -= one.rows
    if (left < 0 || (!isWorn && sizeOf(one) > most)) break
    some.push(one)
  }
  return some
}

/** The merged segment. `without`: its rows lose their visitor and these columns; a sub1 with booked spend (`spent`) stays. */
type MergedSegment = {
  readonly day: string
  readonly is_emptied: boolean
  readonly without?: readonly Losable[]
  readonly spent?: ReadonlySet<string> | undefined
}

/** Segments never change, so they are merged without a lock. Does nothing where one of them is gone by then. */
export async function mergeSegments(
  pool: pg.Pool,
  org_id: number,
  ids: readonly string[],
  { day, is_emptied, without, spent }: MergedSegment,
): Promise<void> {
  const bodies = await readBodies(pool, org_id, ids)
  if (bodies.length < ids.length) return
  const parts = await mergedParts(bodies, without, spent)
  await withSegmentsLock(pool, org_id, async client => {
    const there = await client.query(THERE, [org_id, ids])
    if (there.rows.length < ids.length) return
    await client.query(REMOVE, [org_id, ids])
    await insertSegments(client, org_id, day, parts, is_emptied)
  })
}

/** The bodies of those of these segments that exist. */
export async function readBodies(pool: pg.Pool, org_id: number, ids: readonly string[]): Promise<Buffer[]> {
  const { rows } = await pool.query<{ body: Buffer }>(BODIES, [org_id, ids])
  return rows.map(({ body }) => body)
}

async function mergedParts(
  bodies: readonly Uint8Array[],
  without: readonly Losable[] | undefined,
  spent?: ReadonlySet<string>,
): Promise<SegmentPart[]> {
  const rows: FactRow[] = []
  for (const body of bodies)
    for (const row of await decode(body)) rows.push(without === undefined ? row : emptied(row, without, spent))
  return partsOf(net(rows))
}
