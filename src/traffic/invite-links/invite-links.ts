/**
 * Invite links of channels: the free ones, the click of each given one, and the click behind a join. Owns `channel_links`, `link_batches`,
 * `links_given`, `link_grants` and `shared_grants`. A link is made ahead of time and belongs to one click for ever; a click has one link per
 * channel. If no free link is left, clicks get the shared link of their campaign, and then a join cannot be matched to a click with certainty.
 */
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import { DAY_MS, HOUR_MS } from '../../contract/days.ts'
import { toUuid } from '../../contract/ids.ts'
import { publicChat } from '../../contract/telegram.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { linksOf, linkWordsOf } from './words.ts'

/** A visitor has two days to use a link, or half of the link's lifetime if that is shorter. */
const KEPT_MS = 48 * HOUR_MS

/** How much lifetime a link must have left to be given. */
export const lifeNeeded = (link_days: number): number => Math.min(KEPT_MS, (link_days * DAY_MS) / 2)

/** A link with its click. `click_id` is undefined if it was given to no click, as for shared links. */
type LinkGrant = {
  readonly link_id: string
  readonly channel_id: string
  readonly purpose: 'pool' | 'shared'
  readonly campaign_id: string | null
  readonly click_id: string | undefined
}

/** Finds a link by its name at Telegram, which is its id, or by its address, including used and expired links. Undefined if it was not made by Sluice. */
export async function grantOf(
  db: Kysely<Tables>,
  org_id: number,
  { url, name }: { url?: string | undefined; name?: string | undefined },
): Promise<LinkGrant | undefined> {
  const id = name === undefined ? undefined : toUuid(name)
  if (id === undefined && url === undefined) return undefined
  const { rows } = await sql<Omit<LinkGrant, 'click_id'> & { click_id: string | null }>`
    select l.id as link_id, l.channel_id, l.purpose, l.campaign_id, coalesce(c.id, g.click_id) as click_id
    from channel_links l
    left join clicks c on c.org_id = l.org_id and c.link_id = l.id
    left join link_grants g on g.org_id = l.org_id and g.link_id = l.id
    where l.org_id = ${org_id} and (l.id = ${id ?? null} or l.url = ${url ?? null})
    order by l.id = ${id ?? null} desc nulls last
    limit 1`.execute(db)
  return rows[0] && { ...rows[0], click_id: rows[0].click_id ?? undefined }
}

/**
 * Matches a join by a shared link to the newest click between `since` and `until` that got the link and has no join yet. The match is written in
 * the transaction. For the same person it is always the same click.
 */
export async function takeSharedGrant(
  trx: Transaction<Tables>,
  {
    org_id,
    link_id,
    telegram_user_id,
    since,
    until,
  }: Record<'link_id' | 'telegram_user_id' | 'since' | 'until', string> & { org_id: number },
): Promise<string | undefined> {
  type Taken = { click_id: string }
  const { rows: before } = await sql<Taken>`
    select click_id from shared_grants
    where org_id = ${org_id} and link_id = ${link_id} and taken_by = ${telegram_user_id}
    order by granted_at desc limit 1`.execute(trx)
  if (before[0] !== undefined) return before[0].click_id
  const { rows: open } = await sql<Taken>`
    select click_id from shared_grants
    where org_id = ${org_id} and link_id = ${link_id} and taken_by is null
      and granted_at between ${since} and ${until}
    order by granted_at desc limit 1
    for update skip locked`.execute(trx)
  if (open[0] === undefined) return undefined
  await sql`
    update shared_grants set taken_by = ${telegram_user_id}
    where org_id = ${org_id} and link_id = ${link_id} and click_id = ${open[0].click_id}`.execute(trx)
  return open[0].click_id
}

export type ForClick = {
  readonly org_id: number
  readonly channel_id: string
  readonly click_id: string
  readonly campaign_id: string | null
}

/**
 * The address that leads a click's visitor into a channel: the click's link, else a free link, which this call gives to the click, else the
 * campaign's shared link, else the address of a public channel. Undefined if there is none of these. @throws database errors
 */
export async function linkForClick(db: Kysely<Tables>, forClick: ForClick): Promise<string | undefined> {
  const { link, username } = await placeForClick(db, forClick)
  return link ?? (username === null ? undefined : publicChat(username))
}

/** The invite link of a click, without falling back to the public address. */
export async function inviteForClick(db: Kysely<Tables>, forClick: ForClick): Promise<string | undefined> {
  return (await placeForClick(db, forClick)).link
}

type Place = { readonly link: string | undefined; readonly username: string | null }

async function placeForClick(db: Kysely<Tables>, forClick: ForClick): Promise<Place> {
  const channel = await db
    .selectFrom('channels')
    .select(['username', 'link_days', 'state'])
    .where('org_id', '=', forClick.org_id)
    .where('id', '=', forClick.channel_id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (channel === undefined) return { link: undefined, username: null }
  const own = (await grantedTo(db, forClick)) ?? (await giveFree(db, forClick, lifeNeeded(channel.link_days)))
  return { link: own ?? (await giveShared(db, forClick)), username: channel.username }
}

/** The address of a pool link that a visitor got earlier, if it still works and leads into this channel. @throws database errors */
export async function linkAgain(
  db: Kysely<Tables>,
  { org_id, channel_id, link_id }: { org_id: number; channel_id: string; link_id: string },
): Promise<string | undefined> {
  const { rows } = await sql<{ url: string }>`
    select url from channel_links
    where org_id = ${org_id} and id = ${link_id} and channel_id = ${channel_id} and purpose = 'pool' and state <> 'dead'
      and expires_at > now()`.execute(db)
  return rows[0]?.url
}

/** The link of a click into a channel, as long as it works. */
async function grantedTo(db: Kysely<Tables>, { org_id, channel_id, click_id }: ForClick): Promise<string | undefined> {
  const { rows } = await sql<{ url: string }>`
    select l.url
    from (
      select link_id from link_grants
      where org_id = ${org_id} and channel_id = ${channel_id} and click_id = ${click_id}
      union all
      select link_id from clicks where org_id = ${org_id} and id = ${click_id} and link_id is not null
    ) as g
    join channel_links l on l.org_id = ${org_id} and l.id = g.link_id
    where l.channel_id = ${channel_id} and l.state <> 'dead' and (l.expires_at is null or l.expires_at > now())`.execute(
    db,
  )
  return rows[0]?.url
}

/**
 * The locks of each try: first a batch that no other transaction has locked. If there is none, it waits for one, twice, because the transaction before
 * it may have taken the batch's last link.
 */
const WAYS = [sql`skip locked`, sql``, sql``]

/** Gives a free link. Two concurrent calls for a click return the same link, and the other link stays in its batch. */
async function giveFree(db: Kysely<Tables>, forClick: ForClick, life_ms: number): Promise<string | undefined> {
  for (const way of WAYS) {
    const given = await db.transaction().execute(trx => giveFrom(trx, forClick, life_ms, way))
    if (given !== undefined) return given === 'elsewhere' ? await grantedTo(db, forClick) : given
  }
  return undefined
}

async function giveFrom(
  trx: Transaction<Tables>,
  { org_id, channel_id, click_id }: ForClick,
  life_ms: number,
  way: RawBuilder<unknown>,
): Promise<string | undefined> {
  const { rows: batches } = await sql<{ id: string; words: string }>`
    select id, words from link_batches
    where org_id = ${org_id} and channel_id = ${channel_id} and state = 'free' and left_over > 0
      and expires_at > now() + ${life_ms}::float8 * interval '1 millisecond'
    order by expires_at limit 1
    for update ${way}`.execute(trx)
  const [batch] = batches
  const [link, ...rest] = linksOf(batch?.words ?? '')
  if (batch === undefined || link === undefined) return undefined
  const granted = await sql`
    insert into link_grants (org_id, link_id, channel_id, click_id, granted_at)
    values (${org_id}, ${link.id}, ${channel_id}, ${click_id}, ${new Date().toISOString()})
    on conflict do nothing`.execute(trx)
  if (granted.numAffectedRows !== 1n) return 'elsewhere'
  await sql`
    update link_batches set left_over = ${rest.length}, words = ${linkWordsOf(rest)}, state = ${rest.length === 0 ? 'spent' : 'free'}
    where org_id = ${org_id} and id = ${batch.id}`.execute(trx)
  await sql`
    insert into links_given (org_id, channel_id, minute, given)
    values (${org_id}, ${channel_id}, date_trunc('minute', now()), 1)
    on conflict (org_id, channel_id, minute) do update set given = links_given.given + 1`.execute(trx)
  return link.url
}

async function giveShared(db: Kysely<Tables>, forClick: ForClick): Promise<string | undefined> {
  const { org_id, channel_id, click_id, campaign_id } = forClick
  if (campaign_id === null) return undefined
  const { rows } = await sql<{ id: string; url: string }>`
    select id, url from channel_links
    where org_id = ${org_id} and channel_id = ${channel_id} and campaign_id = ${campaign_id} and purpose = 'shared'
      and state <> 'dead'`.execute(db)
  const [link] = rows
  if (link === undefined) return undefined
  await sql`
    insert into shared_grants (org_id, click_id, channel_id, link_id, granted_at)
    values (${org_id}, ${click_id}, ${channel_id}, ${link.id}, ${new Date().toISOString()})
    on conflict do nothing`.execute(db)
  return link.url
}
