/**
 * Seals what transactions said of their clicks (`click_sheet`) into segments: takes sheets, puts segments, in one transaction, organization by
 * organization. Nothing on disk counts, and no watermark: what was taken is gone, so a click that is stored late is never passed over. Owns
 * `click_sheet`, `segments` and `explore_turns`.
 */
import type pg from 'pg'
import { boundsOf } from '../../contract/ids.ts'
import type { Among } from '../../ground/db/everywhere.ts'
import type { Secrets } from '../../ground/db/secrets.ts'
import type { Ground } from '../../ground/room.ts'
import { openPace, type Pace } from '../../ground/pace.ts'
import { openRounds, organizationsWith, type Rounds } from '../../ground/rounds.ts'
import { Days, type Entry, entriesOf, FIXED, type Fixed, type Hash, rowsOf } from './facts.ts'
import { partsOf } from './parts.ts'
import { insertSegments, inTurn } from './store.ts'

/** Some 5,000 new clicks: few enough that no transaction is long, and enough that hours of a busy day are few segments. */
const PORTION_BYTES = 100_000
/** What waits is read with every question, and each round writes a file for every day that it touches. */
const PAUSE_MS = 10_000
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Who has something to be sealed; see `organizationsWith`. */
export const NEXT_WAITING = (among: Among) =>
  `select org_id from click_sheet where org_id > $1${among('org_id')} order by org_id limit 1`

/** Of an organization: with half a second more for each question, people notice. */
export const MANY_WAITING = 100_000
/** What waits of rows of `click_sheet`, for a select. */
export const WAITING_COUNT =
  'sum(coalesce(cardinality(born), 0) + coalesce(cardinality(born_otherwise), 0) + coalesce(cardinality(changes), 0))::int as waiting'

/** By size, not by number: a sheet is of one click or five hundred. */
const BOUND = `
  select id from (
    select id, sum(coalesce(pg_column_size(born), 0) + coalesce(pg_column_size(born_otherwise), 0) + coalesce(pg_column_size(changes), 0))
      over (order by id rows unbounded preceding) as bytes
    from click_sheet where org_id = $1
  ) sheets where bytes >= ${PORTION_BYTES} order by id limit 1`

const TAKE = `
  with taken as (
    delete from click_sheet where org_id = $1 and id <= $2 returning born, born_otherwise, changes, conversions_were, conversions
  )${entriesOf('taken')}`

// What is read of them never changes, so it is no matter that they are read after their sheets.
const READ = `
  select ${FIXED} from unnest($2::uuid[]) as asked (key)
  cross join lateral (select * from clicks where org_id = $1 and id = asked.key and id between $3 and $4 limit 1) c`

/** Opens the sealing, which goes round until it is closed; any number of processes may have it. */
export function openSealing(
  { database, secrets, log }: Pick<Ground, 'database' | 'secrets' | 'log'>,
  pause_ms = PAUSE_MS,
): Rounds {
  const pace = openPace()
  return openRounds(
    'segments/seal',
    pause_ms,
    signal => sealAll(database.worker, secrets, { signal, pace }),
    error => log.warn({ err: error }, 'clicks were not sealed for Explore; nothing is lost, and it is tried again'),
  )
}

/** Seals all that waits of every organization, at a pace where one is given. @throws what the database says */
export async function sealAll(
  pool: pg.Pool,
  secrets: Pick<Secrets, 'mac'>,
  { signal, pace }: { signal?: AbortSignal; pace?: Pace } = {},
): Promise<void> {
  for await (const org_id of organizationsWith(NEXT_WAITING, pool, signal))
    for (let isMore = true; isMore && signal?.aborted !== true; ) {
      const began = performance.now()
      isMore = await sealPortion(pool, org_id, hashOf(secrets, org_id))
      await pace?.rest(began, signal)
    }
}

/** True when there was a full portion, so that more may be left; false also where another process is at it. */
async function sealPortion(pool: pg.Pool, org_id: number, hash: Hash): Promise<boolean> {
  const isFull = await inTurn(pool, org_id, async client => {
    const { rows } = await client.query<{ id: string }>(BOUND, [org_id])
    const bound = rows[0]?.id
    await sealUpTo(client, org_id, bound ?? LAST_ID, hash)
    return bound !== undefined
  })
  return isFull === true
}

async function sealUpTo(client: pg.PoolClient, org_id: number, bound: string, hash: Hash): Promise<void> {
  const { rows: entries } = await client.query<Entry>(TAKE, [org_id, bound])
  if (entries.length === 0) return
  const clicks = await readFixed(client, org_id, entries)
  const days = new Days()
  for (const entry of entries) {
    const click = clicks.get(entry.id)
    // One that is not there was given up with its month: its day keeps what was sealed of it.
    if (click !== undefined) days.add(entry.id, rowsOf(click, entry, hash))
  }
  for (const { day, rows } of days.net()) await insertSegments(client, org_id, day, partsOf(rows))
}

/** Whether so much of an organization waits that its days are not worth comparing. */
export async function areManyWaiting(pool: pg.Pool, org_id: number): Promise<boolean> {
  const { rows } = await pool.query<{ waiting: number | null }>(
    `select ${WAITING_COUNT} from click_sheet where org_id = $1`,
    [org_id],
  )
  return (rows[0]?.waiting ?? 0) > MANY_WAITING
}

/** By id, what never changes of the clicks that entries are of. */
export async function readFixed(
  client: Pick<pg.Pool, 'query'>,
  org_id: number,
  entries: readonly Entry[],
): Promise<Map<string, Fixed>> {
  const ids = [...new Set(entries.map(({ id }) => id))]
  if (ids.length === 0) return new Map()
  const { rows } = await client.query<Fixed>(READ, [org_id, ids, ...boundsOf(ids)])
  return new Map(rows.map(click => [click.id, click]))
}

/** An organization's visitors, whom nobody knows again without the secret, nor among those of another organization. */
export function hashOf(secrets: Pick<Secrets, 'mac'>, org_id: number): Hash {
  return visitor_id => secrets.mac('explore visitor', `${org_id} ${visitor_id}`).readBigInt64BE(0)
}
