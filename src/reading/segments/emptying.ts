/**
 * Anonymises the sealed facts of clicks that are no longer kept (KEEP_CLICKS_MONTHS). The facts and their sums stay, but visitors can no longer be
 * told apart: the visitor, ref_id, and subs with a value of their own for nearly every click (such as click ids) are removed. A sub1 with booked
 * spend stays, so that its clicks still share the spend. Reads `ad_spend` and `booked_spend`.
 */
import type pg from 'pg'
import { MINUTE_MS, dayOf } from '../../contract/days.ts'
import { SUBS } from '../../contract/fields.ts'
import { firstIdAt } from '../../contract/ids.ts'
import type { Among } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, organizationsWith, type Rounds } from '../../ground/rounds.ts'
import { clicksKeptFrom } from '../reports/kept.ts'
import { entriesOf } from './entries.ts'
import type { Losable } from './facts.ts'
import { mergeSegments, readBodies } from './merge.ts'
import { decode, MOST_ROWS } from './parquet.ts'

/** No question is wrong in the meantime. */
const PAUSE_MS = 30 * MINUTE_MS
/** In a month. Zones, creatives and keywords have fewer values. */
const MOST_WORDS = 100_000
/** A sub with more values than this share of its clicks names the clicks themselves, not what they came from. */
const OWN_SHARE = 0.5

const NEXT = (day: string) => (among: Among) =>
  `
  select org_id from segments where org_id > $1 and day < '${day}' and not is_emptied${among('org_id')} order by org_id limit 1`
const SEALED = `
  select id, day, rows from segments where org_id = $1 and day < $2::date and not is_emptied order by day, id`
const IS_ANY_KEPT = 'select 1 from clicks where org_id = $1 and id < $2::uuid limit 1'
const IS_ANY_WAITING = `
  with entries as (${entriesOf('(select * from click_sheet where org_id = $1) as sheets')})
  select 1 from entries where id < $2::uuid limit 1`

const SPENT = `
  select sub1 from ad_spend where org_id = $1 and day between $2 and $3 and sub1 <> ''
  union
  select sub1 from booked_spend where org_id = $1 and day between $2 and $3 and sub1 <> ''`

type SealedSegment = { readonly id: string; readonly day: string; readonly rows: number }

/** Opens the periodic emptying; any number of processes may run it. It does nothing where no clicks were ever dropped. */
export function openEmptying({ database, log }: Pick<Ground, 'database' | 'log'>): Rounds {
  return openRounds(
    'segments/emptying',
    PAUSE_MS,
    signal => emptyGone(database.worker, signal),
    error => log.warn({ err: error }, 'could not anonymise months of Explore whose clicks are gone; retrying'),
  )
}

/** Empties all segments of clicks that are gone. @throws database errors */
export async function emptyGone(pool: pg.Pool, signal?: AbortSignal): Promise<void> {
  const kept_from = await clicksKeptFrom(pool)
  if (kept_from === 0) return
  const day = dayOf(kept_from)
  for await (const org_id of organizationsWith(NEXT(day), pool, signal)) {
    // A click that is still there may change, and its segment must then have the fact as it was. Unsealed changes must be sealed first for the same reason.
    const before_id = firstIdAt(kept_from)
    if ((await pool.query(IS_ANY_KEPT, [org_id, before_id])).rows.length > 0) continue
    if ((await pool.query(IS_ANY_WAITING, [org_id, before_id])).rows.length > 0) continue
    const { rows } = await pool.query<SealedSegment>(SEALED, [org_id, day])
    for (const month of Map.groupBy(rows, ({ day: of }) => of.slice(0, 7)).values())
      await emptyMonth(pool, org_id, month, signal)
  }
}

/** A month at a time, because on a day of little traffic every zone may have a single click. */
async function emptyMonth(pool: pg.Pool, org_id: number, segments: readonly SealedSegment[], signal?: AbortSignal) {
  const portions = [...Map.groupBy(segments, ({ day }) => day).values()].flatMap(mergePortionsOf)
  const without: Losable[] = ['ref_id', ...(await ownWords(pool, org_id, portions, signal))]
  const spent = without.includes('sub1') ? await sub1WithSpend(pool, org_id, segments) : undefined
  for (const portion of portions) {
    if (signal?.aborted) return
    const ids = portion.map(({ id }) => id)
    await mergeSegments(pool, org_id, ids, { day: portion[0]?.day ?? '', is_emptied: true, without, spent })
  }
}

/** The values of sub1 that have spend booked in the month of these segments. */
async function sub1WithSpend(
  pool: pg.Pool,
  org_id: number,
  segments: readonly SealedSegment[],
): Promise<ReadonlySet<string>> {
  const days = segments.map(({ day }) => day).sort()
  const { rows } = await pool.query<{ sub1: string }>(SPENT, [org_id, days[0], days.at(-1)])
  return new Set(rows.map(({ sub1 }) => sub1))
}

/** The segments of a day in portions, each of which becomes one segment. */
function mergePortionsOf(segments: readonly SealedSegment[]): SealedSegment[][] {
  const portions: SealedSegment[][] = []
  let rows = MOST_ROWS
  for (const segment of segments) {
    rows += segment.rows
    if (rows > MOST_ROWS) {
      portions.push([])
      rows = segment.rows
    }
    portions.at(-1)?.push(segment)
  }
  return portions
}

/** The subs whose values name clicks. */
async function ownWords(
  pool: pg.Pool,
  org_id: number,
  portions: readonly SealedSegment[][],
  signal?: AbortSignal,
): Promise<Losable[]> {
  const found = SUBS.map(name => ({ name, filled: 0, words: new Set<string>() }))
  for (const portion of portions) {
    if (signal?.aborted) break
    const ids = portion.map(({ id }) => id)
    for (const body of await readBodies(pool, org_id, ids))
      for (const row of await decode(body, ['sign', ...SUBS]))
        for (const sub of found) {
          const word = row[sub.name]
          if (word === null || word === '') continue
          sub.filled += row.sign
          // Beyond the limit the exact number does not matter.
          if (sub.words.size <= MOST_WORDS) sub.words.add(word)
        }
  }
  return found
    .filter(({ filled, words }) => words.size > MOST_WORDS || words.size > OWN_SHARE * filled)
    .map(({ name }) => name)
}
