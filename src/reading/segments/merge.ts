/**
 * Merges segments of a day: each round of sealing adds one, and of a click that has changed the rows that cancel are in several. What is merged
 * comes to what it was, so it needs no clicks, and goes on for days whose clicks are gone.
 */
import type pg from 'pg'
import type { Among } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'
import { openPace, type Pace } from '../../ground/pace.ts'
import { openRounds, organizationsWith, type Rounds } from '../../ground/rounds.ts'
import { emptied, type Losable, net, type Row } from './facts.ts'
import { decode, MOST_ROWS } from './parquet.ts'
import { type Part, partsOf } from './parts.ts'
import { insertSegments, inTurn } from './store.ts'

const PAUSE_MS = 60_000
/** So many of about one size become one: each row is written again a handful of times, and no day has more than some dozens. */
const OF_A_SIZE = 8
/** More than one row in ten that only takes away is not worth reading again and again. */
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

/** Opens the merging, which goes round until it is closed; any number of processes may have it. */
export function openMerging({ database, log }: Pick<Ground, 'database' | 'log'>): Rounds {
  const pace = openPace()
  return openRounds(
    'segments/merge',
    PAUSE_MS,
    signal => mergeAll(database.worker, { signal, pace }),
    error => log.warn({ err: error }, 'segments of Explore were not merged; they stay right, and it is tried again'),
  )
}

/** Merges all that is to be merged, at a pace where one is given. @throws what the database says */
export async function mergeAll(
  pool: pg.Pool,
  { signal, pace }: { signal?: AbortSignal; pace?: Pace } = {},
): Promise<void> {
  for await (const org_id of organizationsWith(NEXT, pool, signal)) {
    const { rows } = await pool.query<Size & { day: string; is_emptied: boolean }>(CROWDED, [org_id])
    for (const sizes of Map.groupBy(rows, ({ day, is_emptied }) => `${day} ${is_emptied}`).values()) {
      if (signal?.aborted) return
      const ids = chosen(sizes).map(({ id }) => id)
      const { day, is_emptied } = sizes[0] as (typeof sizes)[number]
      if (ids.length < 2) continue
      const began = performance.now()
      await mergeSegments(pool, org_id, ids, { day, is_emptied })
      await pace?.rest(began, signal)
    }
  }
}

/**
 * Which of a day's segments are to be one, the smallest first as they are given: those of the largest size that is crowded with all that are smaller;
 * or, where too many rows only take away, as many as fit. None where nothing is to be done.
 */
export function chosen(sizes: readonly Size[]): readonly Size[] {
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

/** What segments become. `without`: they lose who their visitors were, and these words, but for those of sub1 that are `spent` on. */
type Merged = {
  readonly day: string
  readonly is_emptied: boolean
  readonly without?: readonly Losable[]
  readonly spent?: ReadonlySet<string> | undefined
}

/** Segments never change, so they are merged without a lock; where one of them has gone meanwhile, nothing happens. */
export async function mergeSegments(
  pool: pg.Pool,
  org_id: number,
  ids: readonly string[],
  { day, is_emptied, without, spent }: Merged,
): Promise<void> {
  const bodies = await readBodies(pool, org_id, ids)
  if (bodies.length < ids.length) return
  const parts = await merged(bodies, without, spent)
  await inTurn(pool, org_id, async client => {
    const there = await client.query(THERE, [org_id, ids])
    if (there.rows.length < ids.length) return
    await client.query(REMOVE, [org_id, ids])
    await insertSegments(client, org_id, day, parts, is_emptied)
  })
}

/** Those of these segments' bodies that are there. */
export async function readBodies(pool: pg.Pool, org_id: number, ids: readonly string[]): Promise<Buffer[]> {
  const { rows } = await pool.query<{ body: Buffer }>(BODIES, [org_id, ids])
  return rows.map(({ body }) => body)
}

async function merged(
  bodies: readonly Uint8Array[],
  without: readonly Losable[] | undefined,
  spent?: ReadonlySet<string>,
): Promise<Part[]> {
  const rows: Row[] = []
  for (const body of bodies)
    for (const row of await decode(body)) rows.push(without === undefined ? row : emptied(row, without, spent))
  return partsOf(net(rows))
}
