// The statements with which a process leases batches of free links, renews the leases, and reports which links were given.
import type pg from 'pg'
import { type BatchLink, linkWordsOf } from './words.ts'

/** A leased batch; `expires_ms` is when its first link expires (Unix). */
export type LinkBatch = {
  readonly id: string
  readonly expires_ms: number
  readonly size: number
  readonly words: string
}

/** Renewed every ten minutes, so it runs out only if the process is dead. */
const LEASE = `interval '1 hour'`

/** The epoch of a timestamptz counts as dependent on settings, which a cluster refuses in `returning`; that of an interval does not. */
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
 * Leases at most `most` batches, those first that expire first, of links that live for at least `life_ms`. Other processes neither wait for this nor get
 * the same batches. Returns fewer batches if there are no more.
 */
export async function takeBatches(
  pool: Pool,
  { org_id, channel_id, by }: Of,
  { most, life_ms }: { most: number; life_ms: number },
): Promise<LinkBatch[]> {
  const { rows } = await pool.query<LinkBatch>(TAKE, [org_id, channel_id, by, life_ms, most])
  return rows
}

/** Renews leases and returns the ids of the batches that this process still holds. */
export async function renewBatches(pool: Pool, { org_id, by }: Of, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await pool.query<{ id: string }>(RENEW, [org_id, ids, by])
  return new Set(rows.map(({ id }) => id))
}

/** Marks batches whose links were all given. The clicks store which link they got. */
export async function spendBatches(pool: Pool, { org_id, by }: Of, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await pool.query(SPEND, [org_id, ids, by])
}

/** Returns batches with the links that are left. The process must name them, because clicks with the given links may still be in a journal. */
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

/** Adds to the counts of given links, by minute of Unix time. */
export async function countGiven(
  pool: Pool,
  { org_id, channel_id }: Of,
  given: ReadonlyMap<number, number>,
): Promise<void> {
  if (given.size > 0) await pool.query(COUNT, [org_id, channel_id, [...given.keys()], [...given.values()]])
}
