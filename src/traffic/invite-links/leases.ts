// The statements by which a process takes batches of free links ahead of visitors, keeps them, and says what has become of them.
import type pg from 'pg'
import { newId } from '../../contract/ids.ts'
import { BATCH } from './making.ts'

/** A link in a stock; `expires_ms` is Unix. */
export type StockLink = {
  readonly id: string
  readonly batch_id: string
  readonly url: string
  readonly expires_ms: number
}

/** Renewed long before, so that only a process that is gone lets it run out. */
const LEASE = `interval '1 hour'`

const TAKE = `
  update link_batches set state = 'leased', leased_by = $3, lease_until = now() + ${LEASE}
  where org_id = $1 and id = any(array(
    select id from link_batches
    where org_id = $1 and channel_id = $2 and state = 'free' and left_over > 0
      and expires_at > now() + $4::float8 * interval '1 millisecond'
    order by expires_at limit $5
    for update skip locked
  ))
  returning id`
const LINKS = `
  select id, batch_id, url, (extract(epoch from expires_at) * 1000)::float8 as expires_ms
  from channel_links
  where org_id = $1 and batch_id = any($2::uuid[])`
const RENEW = `
  update link_batches set lease_until = now() + ${LEASE}
  where org_id = $1 and id = any($2::uuid[]) and leased_by = $3 and state = 'leased'
  returning id`
const GIVE_BACK = `
  update link_batches set state = 'free', leased_by = null, lease_until = null
  where org_id = $1 and id = any($2::uuid[]) and leased_by = $3 and state = 'leased'`
const SPEND = `
  update link_batches set state = 'spent', left_over = 0, leased_by = null, lease_until = null
  where org_id = $1 and id = any($2::uuid[]) and leased_by = $3 and state = 'leased'`
const SPLIT = `
  update link_batches set state = 'spent', left_over = 0, made = made - $4::int, leased_by = null, lease_until = null
  where org_id = $1 and id = $2 and leased_by = $3 and state = 'leased'
  returning channel_id, made_at, expires_at`
const REST = `
  insert into link_batches (org_id, id, channel_id, made_at, expires_at, made, left_over, state)
  values ($1, $2, $3, $4, $5, $6, $6, 'free')`
const MOVE = `update channel_links set batch_id = $3 where org_id = $1 and id = any($2::uuid[])`

type Pool = Pick<pg.Pool, 'query'>
type Of = { readonly org_id: number; readonly channel_id: string; readonly by: string }

/**
 * Takes about so many links that live for `life_ms` at least, of the batches that end first; of other processes none waits for it, and none gets
 * the same. `isAll`: there are no more.
 */
export async function takeLinks(
  pool: Pool,
  { org_id, channel_id, by }: Of,
  { count, life_ms }: { count: number; life_ms: number },
): Promise<{ links: StockLink[]; isAll: boolean }> {
  const most = Math.ceil(count / BATCH)
  const { rows } = await pool.query<{ id: string }>(TAKE, [org_id, channel_id, by, life_ms, most])
  if (rows.length === 0) return { links: [], isAll: true }
  const { rows: links } = await pool.query<StockLink>(LINKS, [org_id, rows.map(({ id }) => id)])
  return { links, isAll: rows.length < most }
}

/** Answers the batches that are still this process's. */
export async function renewBatches(pool: Pool, { org_id, by }: Of, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await pool.query<{ id: string }>(RENEW, [org_id, ids, by])
  return new Set(rows.map(({ id }) => id))
}

/** Batches of which every link was given: their clicks say to whom. */
export async function spendBatches(pool: Pool, { org_id, by }: Of, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await pool.query(SPEND, [org_id, ids, by])
}

/** Batches of which no link was given. */
export async function giveBackWhole(pool: Pool, { org_id, by }: Of, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await pool.query(GIVE_BACK, [org_id, ids, by])
}

/** What is left of a batch, as a batch of its own: what was given may be known to nothing but a journal yet. */
export async function giveBackRest(
  pool: pg.Pool,
  { org_id, by }: Of,
  id: string,
  links: readonly string[],
): Promise<void> {
  type Split = { channel_id: string; made_at: string; expires_at: string }
  const client = await pool.connect()
  try {
    await client.query('begin')
    const { rows } = await client.query<Split>(SPLIT, [org_id, id, by, links.length])
    const [split] = rows
    const rest = newId()
    if (split !== undefined) {
      const { channel_id, made_at, expires_at } = split
      await client.query(REST, [org_id, rest, channel_id, made_at, expires_at, links.length])
      await client.query(MOVE, [org_id, links, rest])
    }
    await client.query('commit')
    client.release()
  } catch (error) {
    client.release(true)
    throw error
  }
}
