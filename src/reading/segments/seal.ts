/**
 * Seals sheets, the click changes that transactions recorded in `click_sheet`, into segments: one transaction deletes sheets and inserts segments, one
 * organization at a time. There is no watermark and no state on disk, so a click that is stored late is never skipped. Owns `click_sheet`,
 * `segments` and `explore_turns`.
 */
import type pg from 'pg'
import { boundsOf, timeOfId } from '../../contract/ids.ts'
import type { Among } from '../../ground/db/everywhere.ts'
import type { Secrets } from '../../ground/db/secrets.ts'
import type { Ground } from '../../ground/room.ts'
import { openPace, type Pace } from '../../ground/pace.ts'
import { openRounds, organizationsWith, type Rounds } from '../../ground/rounds.ts'
import { entriesByClick, factRowsByDay, otherEntriesOf, type SheetEntries } from './entries.ts'
import { FIXED, type FixedClick, type VisitorHash } from './facts.ts'
import { partsOf } from './parts.ts'
import { insertSegments, withSegmentsLock } from './store.ts'

/** Entries: few enough for short transactions, and enough that a busy day has few segments. */
const PORTION = 5000
/** Every question reads the unsealed sheets, so not longer; every sealing writes a file for each day that it touches, so not shorter. */
const PAUSE_MS = 10_000
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The next organization with unsealed sheets; see `organizationsWith`. */
export const NEXT_WAITING = (among: Among) =>
  `select org_id from click_sheet where org_id > $1${among('org_id')} order by org_id limit 1`

/** Beside so many unsealed clicks and changes of an organization, questions take seconds longer. */
export const MANY_WAITING = 100_000
/** SQL of the number of new clicks and changes in a row of `click_sheet`. */
export const SHEET_ENTRIES =
  'coalesce(cardinality(born), 0) + coalesce(cardinality(born_otherwise), 0) + coalesce(cardinality(changes), 0)'
/** The number of unsealed clicks and changes in rows of `click_sheet`, for a select. */
export const WAITING_COUNT = `sum(${SHEET_ENTRIES})::int as waiting`

/**
 * The oldest sheet, and the last one of a full portion. A portion is counted in entries, because a sheet has between one and five hundred. Each sheet has at
 * least one, so no more sheets are read than a portion has entries.
 */
const NEXT_PORTION = `
  select min(id::text collate "C") as oldest, min(id::text collate "C") filter (where entries >= ${PORTION}) as bound from (
    select id, sum(${SHEET_ENTRIES}) over (order by id rows unbounded preceding) as entries
    from (select * from click_sheet where org_id = $1 order by id limit ${PORTION}) first
  ) sheets`

const HURRIES = [
  { from_ms: 30_000, most_rests: 1 },
  { from_ms: 15_000, most_rests: 8 },
] as const

/**
 * How many times as long as a portion took sealing rests at most after it, so that it catches up on a busy machine; undefined: as other background work. It is
 * behind by the age of the oldest sheet, by this machine's clock.
 */
export const mostRests = (behind_ms: number): number | undefined =>
  HURRIES.find(({ from_ms }) => behind_ms >= from_ms)?.most_rests

const TAKE = `
  with taken as (
    delete from click_sheet where org_id = $1 and id <= $2 returning born, born_otherwise, changes, conversions_were, conversions
  )
  select (select string_agg(id::text, ',') from taken, unnest(born) as id) as born,
    (select json_agg(e) from (${otherEntriesOf('taken')}) e) as entries`

// These columns never change, so they may be read after the sheets.
const READ = `
  select ${FIXED} from unnest($2::uuid[]) as asked (key)
  cross join lateral (select * from clicks where org_id = $1 and id = asked.key and id between $3 and $4 limit 1) c`

/** Opens the periodic sealing; any number of processes may run it. */
export function openSealing(
  { database, secrets, log }: Pick<Ground, 'database' | 'secrets' | 'log'>,
  pause_ms = PAUSE_MS,
): Rounds {
  const pace = openPace()
  return openRounds(
    'segments/seal',
    pause_ms,
    signal => sealAll(database.worker, secrets, { signal, pace }),
    error => log.warn({ err: error }, 'could not seal clicks for Explore, nothing is lost; retrying'),
  )
}

/** Seals all sheets of every organization, at `pace` if given. @throws database errors */
export async function sealAll(
  pool: pg.Pool,
  secrets: Pick<Secrets, 'mac'>,
  { signal, pace }: { signal?: AbortSignal; pace?: Pace } = {},
): Promise<void> {
  for await (const org_id of organizationsWith(NEXT_WAITING, pool, signal))
    for (let isMore = true; isMore && signal?.aborted !== true; ) {
      const began = performance.now()
      const sealed = await sealPortion(pool, org_id, visitorHashOf(secrets, org_id))
      isMore = sealed?.isFull === true
      await pace?.rest(began, signal, mostRests(sealed?.behind_ms ?? 0))
    }
}

/** `isFull`: more may be left. `behind_ms`: the age of the oldest sheet. Undefined where another process has the turn. */
async function sealPortion(
  pool: pg.Pool,
  org_id: number,
  hash: VisitorHash,
): Promise<{ isFull: boolean; behind_ms: number } | undefined> {
  return withSegmentsLock(pool, org_id, async client => {
    const { rows } = await client.query<{ oldest: string | null; bound: string | null }>(NEXT_PORTION, [org_id])
    const { oldest = null, bound = null } = rows[0] ?? {}
    await sealUpTo(client, org_id, bound ?? LAST_ID, hash)
    return { isFull: bound !== null, behind_ms: oldest === null ? 0 : Date.now() - timeOfId(oldest) }
  })
}

async function sealUpTo(client: pg.PoolClient, org_id: number, bound: string, hash: VisitorHash): Promise<void> {
  const { rows } = await client.query<SheetEntries>(TAKE, [org_id, bound])
  const entries = entriesByClick(rows[0] ?? { born: null, entries: null })
  // A missing click was dropped with its month; its day keeps its sealed facts.
  const clicks = await readFixed(client, org_id, [...entries.keys()])
  for (const { day, rows: facts } of await factRowsByDay(entries, clicks, hash))
    await insertSegments(client, org_id, day, partsOf(facts))
}

/** Whether an organization has so many unsealed clicks that comparing its days takes too long. */
export async function areManyWaiting(pool: pg.Pool, org_id: number): Promise<boolean> {
  const { rows } = await pool.query<{ waiting: number | null }>(
    `select ${WAITING_COUNT} from click_sheet where org_id = $1`,
    [org_id],
  )
  return (rows[0]?.waiting ?? 0) > MANY_WAITING
}

/** By id, the columns that never change of these clicks. */
export async function readFixed(
  client: Pick<pg.Pool, 'query'>,
  org_id: number,
  ids: readonly string[],
): Promise<Map<string, FixedClick>> {
  if (ids.length === 0) return new Map()
  // Not as a prepared statement: planned for so many ids, it always takes the primary key.
  const { rows } = await client.query<FixedClick>({ text: READ, values: [org_id, ids, ...boundsOf(ids)] })
  return new Map(rows.map(click => [click.id, click]))
}

/** A hash of an organization's visitors, which differs for every organization and cannot be computed without the secret. */
export function visitorHashOf(secrets: Pick<Secrets, 'mac'>, org_id: number): VisitorHash {
  return visitor_id => secrets.mac('explore visitor', `${org_id} ${visitor_id}`).readBigInt64BE(0)
}
