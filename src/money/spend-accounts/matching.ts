/**
 * Whose spend an id's is: the campaign most of whose tracked clicks of that day carried it; on a day without any, the campaign it was last seen on within
 * 30 days. Owns `spend_matches`, which remembers that. A day's clicks are read by their primary key and only for the ids that cost something on it.
 */
import { type Kysely, sql } from 'kysely'
import { DAY_MS, HOUR_MS } from '../../contract/days.ts'
import { SUBS } from '../../contract/fields.ts'
import { firstIdAt } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import type { Claimed } from './claims.ts'

/** Days before and after the spend on which a click may have carried the id. */
const SEEN_DAYS = 30

/** A hundred thousand clicks are read in a quarter of a second. */
const PART_MS = 6 * HOUR_MS

/** Of ids that nobody has seen yet so many are looked for at a time. */
const MOST_SOUGHT = 5000

/** What is known of an id: its campaign, or none. */
type Matches = ReadonlyMap<string, string>

type Seen = { external_id: string; campaign_id: string; clicks: number }

/**
 * The campaigns whose clicks of a UTC day carried these ids, by id; looked for as well are ids whose spend has had no campaign so far. All of an
 * account that is one campaign's is that one's.
 */
export async function seeDay(
  ground: Pick<Ground, 'database' | 'db'>,
  account: Pick<Claimed, 'org_id' | 'id' | 'id_in' | 'campaign_id'>,
  day: string,
  ids: readonly string[],
): Promise<Matches> {
  const { campaign_id } = account
  if (campaign_id !== null) return new Map(ids.map(id => [id, campaign_id]))
  const sought = [...new Set([...ids, ...(await unmatchedIds(ground.db, account, day))])]
  return sought.length === 0 ? new Map() : new Map(most(await seenOn(ground, account, day, sought)))
}

/** Of the days on which a click of this day may still tell whose they are. */
async function unmatchedIds(db: Kysely<Tables>, { org_id, id }: Account, day: string): Promise<string[]> {
  const { rows } = await sql<{ external_id: string }>`
    select distinct external_id from account_spend
    where org_id = ${org_id} and account_id = ${id} and campaign_id is null
      and day between ${day}::date - ${SEEN_DAYS}::int and ${day}::date + ${SEEN_DAYS}::int
    order by external_id limit ${MOST_SOUGHT}`.execute(db)
  return rows.map(({ external_id }) => external_id)
}

/** Remembers what was seen on a day, and answers it with what is remembered of ids that were not; in the transaction that books it. */
export async function recall(
  db: Kysely<Tables>,
  account: Pick<Claimed, 'org_id' | 'id' | 'campaign_id'>,
  day: string,
  ids: readonly string[],
  seen: Matches,
): Promise<Matches> {
  if (account.campaign_id !== null) return seen
  await remember(db, account, day, seen)
  const unseen = ids.filter(id => !seen.has(id))
  return new Map([...seen, ...(await remembered(db, account, day, unseen))])
}

async function seenOn(
  { database }: Pick<Ground, 'database'>,
  { org_id, id_in }: Pick<Claimed, 'org_id' | 'id_in'>,
  day: string,
  ids: readonly string[],
): Promise<Seen[]> {
  const sub = SUBS.find(name => name === id_in)
  if (sub === undefined) return []
  const midnight = Date.parse(`${day}T00:00:00Z`)
  const counts = new Map<string, Seen>()
  // In parts, so that no statement reads for longer than it may, however many clicks a day has.
  for (let from = midnight; from < midnight + DAY_MS; from += PART_MS) {
    const { rows } = await database.worker.query<Seen>(
      `select ${sub} as external_id, campaign_id, count(*)::int as clicks
      from clicks
      where org_id = $1 and id >= $2 and id < $3 and tracked and campaign_id is not null and ${sub} = any($4::text[])
      group by ${sub}, campaign_id`,
      [org_id, firstIdAt(from), firstIdAt(from + PART_MS), [...ids]],
    )
    for (const row of rows) {
      const key = `${row.campaign_id} ${row.external_id}`
      counts.set(key, { ...row, clicks: row.clicks + (counts.get(key)?.clicks ?? 0) })
    }
  }
  return [...counts.values()]
}

/** Of each id the campaign with most clicks; of equals the older one, so that it is the same each time. */
function most(seen: readonly Seen[]): [string, string][] {
  const best = new Map<string, Seen>()
  for (const one of seen) {
    const other = best.get(one.external_id)
    const isBetter =
      other === undefined ||
      one.clicks > other.clicks ||
      (one.clicks === other.clicks && one.campaign_id < other.campaign_id)
    if (isBetter) best.set(one.external_id, one)
  }
  return [...best].map(([id, { campaign_id }]) => [id, campaign_id])
}

type Account = Pick<Claimed, 'org_id' | 'id'>

async function remember(db: Kysely<Tables>, { org_id, id }: Account, day: string, matches: Matches): Promise<void> {
  if (matches.size === 0) return
  await sql`
    insert into spend_matches (org_id, account_id, external_id, campaign_id, seen_on)
    select ${org_id}::int, ${id}::uuid, external_id, campaign_id, ${day}::date
    from unnest(${[...matches.keys()]}::text[], ${[...matches.values()]}::uuid[]) as seen (external_id, campaign_id)
    on conflict (org_id, account_id, external_id)
      do update set campaign_id = excluded.campaign_id, seen_on = excluded.seen_on
      where spend_matches.seen_on <= excluded.seen_on`.execute(db)
}

async function remembered(
  db: Kysely<Tables>,
  { org_id, id }: Account,
  day: string,
  ids: readonly string[],
): Promise<Matches> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<{ external_id: string; campaign_id: string }>`
    select external_id, campaign_id from spend_matches
    where org_id = ${org_id} and account_id = ${id} and external_id = any(${[...ids]}::text[])
      and seen_on between ${day}::date - ${SEEN_DAYS}::int and ${day}::date + ${SEEN_DAYS}::int`.execute(db)
  return new Map(rows.map(row => [row.external_id, row.campaign_id]))
}

/** The UTC days from `first` on with spend whose campaign was not known when it was booked, and is known since. */
export async function daysToMatchAgain(db: Kysely<Tables>, { org_id, id }: Account, first: string): Promise<string[]> {
  const { rows } = await sql<{ day: string }>`
    select distinct s.day
    from account_spend s
    join spend_matches m on m.org_id = s.org_id and m.account_id = s.account_id and m.external_id = s.external_id
    where s.org_id = ${org_id} and s.account_id = ${id} and s.campaign_id is null and s.day >= ${first}::date
      and m.seen_on between s.day - ${SEEN_DAYS}::int and s.day + ${SEEN_DAYS}::int
    order by s.day`.execute(db)
  return rows.map(({ day }) => day)
}

/** Forgets what ids were seen on: they are looked for elsewhere, or are others. */
export async function forgetMatches(db: Kysely<Tables>, org_id: number, id: string): Promise<void> {
  await sql`delete from spend_matches where org_id = ${org_id} and account_id = ${id}`.execute(db)
}
