// Stores the links that Telegram has created, counts them, and discards them when they are revoked or the channel changes.
import { type Kysely, sql } from 'kysely'
import { DAY_MS, HOUR_MS } from '../../contract/days.ts'
import { firstIdAt, newId, toUuid } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { lifeNeeded } from './invite-links.ts'
import { type BatchLink, linksOf, linkWordsOf } from './words.ts'

type Db = Kysely<Tables>
type Of = { readonly org_id: number; readonly channel_id: string }

type Made = Of & {
  readonly id: string
  readonly url: string
  /** Null for a link of the pool; otherwise the campaign whose clicks share the link. */
  readonly campaign_id: string | null
  readonly expires_at: string | null
}
/** The chat and the join mode that a link was created for. If the channel's have changed since, the link is useless. */
type Kind = { readonly chat_id: string; readonly join_mode: string; readonly of_batch?: number }

/**
 * Links per batch. Batches are small, because a process that dies loses the few batches it holds. A pool of thousands has larger ones, because each
 * batch is written twice while visitors wait.
 */
export const BATCH = 16
export const BATCH_OF_MANY = 64

/**
 * Stores a link that Telegram has created; a pool link goes into a batch of up to `of_batch` links. Returns false if the link cannot be used: the channel
 * has changed meanwhile, or the campaign already has a shared link.
 */
export async function keepLink(
  db: Db,
  { chat_id, join_mode, of_batch = BATCH, ...link }: Made & Kind,
): Promise<boolean> {
  const { org_id, channel_id, campaign_id, expires_at } = link
  return await db.transaction().execute(async trx => {
    // Waits for a change of the channel, or makes it wait, because such a change also discards the channel's links.
    const { rows } = await sql`
      select from channels
      where org_id = ${org_id} and id = ${channel_id} and chat_id = ${chat_id} and join_mode = ${join_mode} and deleted_at is null
      for share`.execute(trx)
    if (rows.length === 0) return false
    const isPooled = campaign_id === null && expires_at !== null
    if (!(await insertLink(trx, { ...link, purpose: isPooled ? 'pool' : 'shared' }))) return false
    if (isPooled) await addToBatch(trx, { ...link, expires_at }, of_batch)
    return true
  })
}

type Pooled = Of & BatchLink & { readonly expires_at: string }

/** Adds the link to a free batch that has room, else to a new batch. */
async function addToBatch(
  trx: Db,
  { org_id, channel_id, expires_at, ...link }: Pooled,
  of_batch: number,
): Promise<void> {
  const words = linkWordsOf([link])
  const { numAffectedRows } = await sql`
    update link_batches set made = made + 1, left_over = left_over + 1, words = ltrim(words || ' ' || ${words}::text),
      expires_at = least(expires_at, ${expires_at}::timestamptz)
    where org_id = ${org_id} and id = any(array(
      select id from link_batches
      where org_id = ${org_id} and channel_id = ${channel_id} and state = 'free' and made < ${of_batch}
        and expires_at > ${expires_at}::timestamptz - interval '1 hour'
      order by expires_at desc limit 1
      for update skip locked
    ))`.execute(trx)
  if (numAffectedRows === 1n) return
  await sql`
    insert into link_batches (org_id, id, channel_id, expires_at, made, left_over, words, state)
    values (${org_id}, ${newId()}, ${channel_id}, ${expires_at}, 1, 1, ${words}, 'free')`.execute(trx)
}

type Inserted = Made & { readonly purpose: 'pool' | 'shared' }

async function insertLink(
  db: Db,
  { org_id, id, channel_id, purpose, campaign_id, url, expires_at }: Inserted,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into channel_links (org_id, id, channel_id, purpose, campaign_id, url, made_at, changed_at, expires_at)
    values (${org_id}, ${id}, ${channel_id}, ${purpose}, ${campaign_id}, ${url}, now(), now(), ${expires_at})
    on conflict do nothing`.execute(db)
  return numAffectedRows === 1n
}

/**
 * Discards a link that someone has revoked at Telegram: no click gets it any more, and a campaign that shared it gets a new one. Returns false if the
 * link was already discarded or is not one of the channel's.
 */
export async function giveUpLink(
  db: Db,
  { org_id, channel_id }: Of,
  { url, name }: { readonly url: string; readonly name: string },
): Promise<boolean> {
  return await db.transaction().execute(async trx => {
    const { rows } = await sql<{ id: string }>`
      update channel_links set state = 'dead', changed_at = now()
      where org_id = ${org_id} and channel_id = ${channel_id} and state <> 'dead' and (id = ${toUuid(name) ?? null} or url = ${url})
      returning id`.execute(trx)
    const [link] = rows
    if (link === undefined) return false
    await takeOutOfBatch(trx, { org_id, channel_id }, link.id)
    return true
  })
}

/** Only from free batches: a process that has leased the batch does not read it again, and still gives the link out. */
async function takeOutOfBatch(trx: Db, { org_id, channel_id }: Of, link_id: string): Promise<void> {
  const { rows } = await sql<{ id: string; words: string }>`
    select id, words from link_batches
    where org_id = ${org_id} and channel_id = ${channel_id} and state = 'free' and words like ${`%${link_id}%`}
    for update`.execute(trx)
  for (const { id, words } of rows) {
    const rest = linkWordsOf(linksOf(words).filter(link => link.id !== link_id))
    await sql`
      update link_batches set words = ${rest}, left_over = left_over - 1 where org_id = ${org_id} and id = ${id}`.execute(
      trx,
    )
  }
}

/** Discards the channel's unused links and its shared links; campaigns get new shared links. Joins by links that clicks have are still attributed. */
export async function giveUpLinks(db: Db, { org_id, channel_id }: Of): Promise<void> {
  await sql`
    update link_batches set state = 'dead', leased_by = null, lease_until = null
    where org_id = ${org_id} and channel_id = ${channel_id} and state in ('free', 'leased')`.execute(db)
  await sql`
    update channel_links set state = 'dead', changed_at = now()
    where org_id = ${org_id} and channel_id = ${channel_id} and purpose = 'shared' and state <> 'dead'`.execute(db)
}

/** The number of free links that live long enough for a click. */
export async function countFree(db: Db, { org_id, channel_id }: Of, link_days: number): Promise<number> {
  const { rows } = await sql<{ free: number }>`
    select coalesce(sum(left_over), 0)::int as free from link_batches
    where org_id = ${org_id} and channel_id = ${channel_id} and state = 'free'
      and expires_at > now() + ${lifeNeeded(link_days)}::float8 * interval '1 millisecond'`.execute(db)
  return rows[0]?.free ?? 0
}

const MINUTES = 60
const WINDOW = 10

/** The most clicks that were led into the channel within any ten minutes of the last hour. */
export async function busiestTenMinutes(db: Db, { org_id, channel_id }: Of): Promise<number> {
  const since = firstIdAt(Date.now() - HOUR_MS)
  const { rows } = await sql<{ minute: number; clicks: number }>`
    select floor(extract(epoch from now() - at) / 60)::int as minute, sum(clicks)::int as clicks
    from (
      select minute as at, given as clicks from links_given
      where org_id = ${org_id} and channel_id = ${channel_id} and minute > now() - interval '1 hour'
      union all
      select granted_at, 1 from shared_grants
      where org_id = ${org_id} and channel_id = ${channel_id} and click_id >= ${since}
    ) as lately
    group by 1`.execute(db)
  const minutes = Array.from({ length: MINUTES }, () => 0)
  for (const { minute, clicks } of rows) minutes[Math.max(0, Math.min(MINUTES - 1, minute))] = clicks
  const within = minutes.map((_, at) => minutes.slice(at, at + WINDOW).reduce((sum, clicks) => sum + clicks, 0))
  return Math.max(...within)
}

/** The numbers of a channel's pool links. `granted_24h` counts clicks. */
type Pool = {
  readonly free: number
  readonly leased: number
  readonly granted_24h: number
  readonly made_24h: number
}

/** The pools of some channels of an organization. */
export async function poolsOf(
  db: Db,
  org_id: number,
  channels: readonly { readonly id: string; readonly link_days: number }[],
): Promise<Map<string, Pool>> {
  const ids = channels.map(({ id }) => id)
  if (ids.length === 0) return new Map()
  const lives = channels.map(({ link_days }) => lifeNeeded(link_days))
  const dayAgo = firstIdAt(Date.now() - DAY_MS)
  const [links, grants] = await Promise.all([
    sql<{ id: string; free: number; leased: number; made: number }>`
      select b.channel_id as id,
        (coalesce(sum(b.left_over) filter (
          where b.state = 'free' and b.expires_at > now() + asked.life_ms * interval '1 millisecond'
        ), 0))::int as free,
        (coalesce(sum(b.left_over) filter (where b.state = 'leased'), 0))::int as leased,
        (coalesce(sum(b.made) filter (where b.id >= ${dayAgo}), 0))::int as made
      from link_batches b
      join unnest(${ids}::uuid[], ${lives}::float8[]) as asked (id, life_ms) on asked.id = b.channel_id
      where b.org_id = ${org_id} and (b.state = 'free' or b.state = 'leased' or b.id >= ${dayAgo})
      group by 1`.execute(db),
    sql<{ id: string; granted: number }>`
      select channel_id as id, sum(given)::int as granted from links_given
      where org_id = ${org_id} and channel_id = any(${ids}::uuid[]) and minute > now() - interval '1 day'
      group by 1`.execute(db),
  ])
  const granted = new Map(grants.rows.map(row => [row.id, row.granted]))
  const countsByChannel = new Map(links.rows.map(row => [row.id, row]))
  return new Map(
    ids.map(id => {
      const { free = 0, leased = 0, made = 0 } = countsByChannel.get(id) ?? {}
      return [id, { free, leased, granted_24h: granted.get(id) ?? 0, made_24h: made }]
    }),
  )
}

type Lacking = Of & { readonly campaign_id: string }

/** At most 100 campaigns that lead into the channel, directly or through a click flow, and have no shared link into it yet. */
export async function campaignsWithoutLink(db: Db, { org_id, channel_id }: Of): Promise<Lacking[]> {
  const { rows } = await sql<{ campaign_id: string }>`
    select c.id as campaign_id
    from campaigns c
    left join click_flows f on f.org_id = c.org_id and f.id = case
      when c.destination ->> 'type' = 'click_flow' then (c.destination ->> 'click_flow_id')::uuid end
    left join click_flow_versions v on v.org_id = f.org_id and v.click_flow_id = f.id and v.version = f.published_version
    left join channel_links l on l.org_id = c.org_id and l.channel_id = ${channel_id} and l.campaign_id = c.id
      and l.purpose = 'shared' and l.state <> 'dead'
    where c.org_id = ${org_id} and c.deleted_at is null and c.status <> 'archived' and l.id is null
      and (c.destination -> 'channel' ->> 'channel_id' = ${channel_id}
        or v.graph -> 'nodes' @> jsonb_build_array(jsonb_build_object('type', 'channel', 'channel_id', ${channel_id}::text)))
    order by c.id
    limit 100`.execute(db)
  return rows.map(({ campaign_id }) => ({ org_id, channel_id, campaign_id }))
}
