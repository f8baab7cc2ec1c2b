// The statements by which a process takes batches of free links ahead of visitors, keeps them, and says what has become of them.
import type pg from 'pg'
import { type BatchLink, linkWordsOf } from './words.ts'

/** A batch that is leased; `expires_ms` is when the first of its links ends, Unix. */
export type LinkBatch = {
  readonly id: string
  readonly expires_ms: number
  readonly size: number
  readonly words: string
}

/** Renewed long before, so that only a process that is gone lets it run out. */
const LEASE = `interval '1 hour'`

/** A cluster answers only with what no setting changes, as the epoch of a moment is told to be. */
const TAKE = `
  update link_batches set state = 'leased', leased_by = $3, lease_until = now() + ${LEASE}
  where org_id = $1 and id = any(array(
    select id from link_batches
    where org_id = $1 and channel_id = $2 and state = 'free' and left_over > 0
      and expires_at > now() + $4::float8 * interval '1 millisecond'
    order by expires_at limit $5
    for update skip locked
  ))
  returning id, (extract(epoch from expires_at - timestamptz '1970-01-01 00:00:00+00') * 1000)::float8 as expires_ms,
    left_over as size, words`
const RENEW = `
  update link_batches set lease_until = now() + ${LEASE}
  where org_id = $1 and id = any($2::uuid[]) and leased_by = $3 and state = 'leased'
  returning id`
const GIVE_BACK = `
  update link_batches b set state = 'free', leased_by = null, lease_until = null, left_over = g.left_over, words = g.words
  from unnest($3::uuid[], $4::int[], $5::text[]) as g (id, left_over, words)
  where b.org_id = $1 and b.id = g.id and b.leased_by = $2 and b.state = 'leased'`
const SPEND = `
  update link_batches set state = 'spent', left_over = 0, words = '', leased_by = null, lease_until = null
  where org_id = $1 and id = any($2::uuid[]) and leased_by = $3 and state = 'leased'`
const COUNT = `
  insert into links_given (org_id, channel_id, minute, given)
  select $1::int, $2::uuid, to_timestamp(g.minute * 60), g.given from unnest($3::int[], $4::int[]) as g (minute, given)
  on conflict (org_id, channel_id, minute) do update set given = links_given.given + excluded.given`

type Pool = Pick<pg.Pool, 'query'>
type Of = { readonly org_id: number; readonly channel_id: string; readonly by: string }

/**
 * Takes so many batches at most, of those that end first and whose links live for `life_ms` at least; of other processes none waits for it, and none gets
 * the same. Fewer: there are no more.
 */
export async function takeBatches(
  pool: Pool,
  { org_id, channel_id, by }: Of,
  { most, life_ms }: { most: number; life_ms: number },
): Promise<LinkBatch[]> {
  const { rows } = await pool.query<LinkBatch>(TAKE, [org_id, channel_id, by, life_ms, most])
  return rows
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

/** Batches of which not all was given, with what is left of them: what was given may be known to nothing but a journal yet. */
export async function releaseLinks(
  pool: Pool,
  { org_id, by }: Of,
  rest: readonly { readonly id: string; readonly links: readonly BatchLink[] }[],
): Promise<void> {
  if (rest.length === 0) return
  await pool.query(GIVE_BACK, [
    org_id,
    by,
    rest.map(({ id }) => id),
    rest.map(({ links }) => links.length),
    rest.map(({ links }) => linkWordsOf(links)),
  ])
}

/** Counts links that were given, by the minute of Unix time. */
export async function countGiven(
  pool: Pool,
  { org_id, channel_id }: Of,
  given: ReadonlyMap<number, number>,
): Promise<void> {
  if (given.size > 0) await pool.query(COUNT, [org_id, channel_id, [...given.keys()], [...given.values()]])
}
