/**
 * Finds the campaign of a platform's id: the one with the most tracked clicks of that day that carry the id, or on a day without such clicks the
 * one the id was last seen on within 30 days. Owns `spend_matches`, which stores the latter. A day's clicks are read by their primary key, and
 * only for ids with spend.
 */
import { type Kysely, sql } from 'kysely'
import { DAY_MS, HOUR_MS } from '../../contract/days.ts'
import { SUBS } from '../../contract/fields.ts'
import { firstIdAt } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import type { ClaimedAccount } from './claims.ts'

/** Days before and after the spend on which a click may have carried the id. */
const SEEN_DAYS = 30

/** The part of a day read per statement. 100,000 clicks take a quarter of a second. */
const PART_MS = 6 * HOUR_MS

/** The most unmatched ids looked for at a time. */
const MOST_SOUGHT = 5000

/** Campaigns by the platform's id. */
type Matches = ReadonlyMap<string, string>

type IdClicks = { external_id: string; campaign_id: string; clicks: number }

/**
 * Finds the campaigns whose clicks of a UTC day carry these ids, and also those of ids with unmatched spend near that day. For an account
 * assigned to one campaign, that campaign.
 */
export async function matchDay(
  ground: Pick<Ground, 'database' | 'db'>,
  account: Pick<ClaimedAccount, 'org_id' | 'id' | 'id_in' | 'campaign_id'>,
  day: string,
  ids: readonly string[],
): Promise<Matches> {
  const { campaign_id } = account
  if (campaign_id !== null) return new Map(ids.map(id => [id, campaign_id]))
  const sought = [...new Set([...ids, ...(await unmatchedIds(ground.db, account, day))])]
  return sought.length === 0 ? new Map() : new Map(mostClicked(await countClicks(ground, account, day, sought)))
}

/** The unmatched ids of the days on which a click of this day may decide the campaign. */
async function unmatchedIds(db: Kysely<Tables>, { org_id, id }: AccountKey, day: string): Promise<string[]> {
  const { rows } = await sql<{ external_id: string }>`
    select distinct external_id from account_spend
    where org_id = ${org_id} and account_id = ${id} and campaign_id is null
      and day between ${day}::date - ${SEEN_DAYS}::int and ${day}::date + ${SEEN_DAYS}::int
    order by external_id limit ${MOST_SOUGHT}`.execute(db)
  return rows.map(({ external_id }) => external_id)
}

/** Stores the matches of a day, and returns them together with stored matches of the other ids. Runs in the transaction that books the day. */
export async function rememberMatches(
  db: Kysely<Tables>,
  account: Pick<ClaimedAccount, 'org_id' | 'id' | 'campaign_id'>,
  day: string,
  ids: readonly string[],
  seen: Matches,
): Promise<Matches> {
  if (account.campaign_id !== null) return seen
  await storeMatches(db, account, day, seen)
  const unseen = ids.filter(id => !seen.has(id))
  return new Map([...seen, ...(await storedMatches(db, account, day, unseen))])
}

async function countClicks(
  { database }: Pick<Ground, 'database'>,
  { org_id, id_in }: Pick<ClaimedAccount, 'org_id' | 'id_in'>,
  day: string,
  ids: readonly string[],
): Promise<IdClicks[]> {
  const sub = SUBS.find(name => name === id_in)
  if (sub === undefined) return []
  const midnight = Date.parse(`${day}T00:00:00Z`)
  const counts = new Map<string, IdClicks>()
  // In parts, so that no statement exceeds its timeout, however many clicks a day has.
  for (let from = midnight; from < midnight + DAY_MS; from += PART_MS) {
    const { rows } = await database.worker.query<IdClicks>(
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

/** Picks the campaign with the most clicks for each id; of equals the older one, so that the result is stable. */
function mostClicked(seen: readonly IdClicks[]): [string, string][] {
  const best = new Map<string, IdClicks>()
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

type AccountKey = Pick<ClaimedAccount, 'org_id' | 'id'>

async function storeMatches(
  db: Kysely<Tables>,
  { org_id, id }: AccountKey,
  day: string,
  matches: Matches,
): Promise<void> {
  if (matches.size === 0) return
  await sql`
    insert into spend_matches (org_id, account_id, external_id, campaign_id, seen_on)
    select ${org_id}::int, ${id}::uuid, external_id, campaign_id, ${day}::date
    from unnest(${[...matches.keys()]}::text[], ${[...matches.values()]}::uuid[]) as seen (external_id, campaign_id)
    on conflict (org_id, account_id, external_id)
      do update set campaign_id = excluded.campaign_id, seen_on = excluded.seen_on
      where spend_matches.seen_on <= excluded.seen_on`.execute(db)
}

async function storedMatches(
  db: Kysely<Tables>,
  { org_id, id }: AccountKey,
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

/** The UTC days from `first` on with spend that was unmatched when booked and has a match now. */
export async function daysToMatchAgain(
  db: Kysely<Tables>,
  { org_id, id }: AccountKey,
  first: string,
): Promise<string[]> {
  const { rows } = await sql<{ day: string }>`
    select distinct s.day
    from account_spend s
    join spend_matches m on m.org_id = s.org_id and m.account_id = s.account_id and m.external_id = s.external_id
    where s.org_id = ${org_id} and s.account_id = ${id} and s.campaign_id is null and s.day >= ${first}::date
      and m.seen_on between s.day - ${SEEN_DAYS}::int and s.day + ${SEEN_DAYS}::int
    order by s.day`.execute(db)
  return rows.map(({ day }) => day)
}

/** Deletes all matches of an account, because its ids are of another kind or in another sub from now on. */
export async function forgetMatches(db: Kysely<Tables>, org_id: number, id: string): Promise<void> {
  await sql`delete from spend_matches where org_id = ${org_id} and account_id = ${id}`.execute(db)
}
