// A channel with unused invite links, and campaigns that lead there instead of to an offer.
import { newId } from '../src/contract/ids.ts'
import { BATCH_OF_MANY } from '../src/traffic/invite-links/making.ts'
import type { BenchGround } from './ground.ts'
import type { Organization } from './organizations.ts'

// As many links per batch as Sluice makes for a large stock, with ids in the order of time.
const ID = (
  of: string,
) => `(lpad(to_hex($4::bigint + ${of}), 12, '0') || '7' || substr(md5(random()::text), 1, 3) || 'a'
  || substr(md5(random()::text), 1, 15))::uuid`
const INSERT_LINKS = `
  with links as materialized (
    select n / ${BATCH_OF_MANY} as batch, ${ID('n')} as id, 'https://t.me/+' || substr(md5(random()::text), 1, 22) as url
    from generate_series(0, $3::int - 1) n
  ), made as (
    insert into channel_links (org_id, id, channel_id, purpose, url, made_at, changed_at, expires_at)
    select $1::int, id, $2::uuid, 'pool', url, now(), now(), now() + interval '7 days' from links order by id
  )
  insert into link_batches (org_id, id, channel_id, expires_at, made, left_over, words, state)
  select $1::int, ${ID('batch')}, $2::uuid, now() + interval '7 days' + batch * interval '1 millisecond', count(*), count(*),
    string_agg(id || ' ' || url, ' ' order by id), 'free'
  from links group by batch order by batch`
const INSERT_SHARED = `
  insert into channel_links (org_id, id, channel_id, purpose, campaign_id, url, made_at, changed_at)
  select $1::int, gen_random_uuid(), $2::uuid, 'shared', campaign_id, 'https://t.me/+shared' || campaign_id, now(), now()
  from unnest($3::uuid[]) as campaign_id`
const LEAD = `
  update campaigns set destination = jsonb_build_object('type', 'redirect', 'url', 'https://t.me/', 'channel',
    jsonb_build_object('type', 'channel', 'channel_id', $2::text, 'open', 'direct', 'link_host', 't.me'))
  where org_id = $1`

/** Makes all campaigns of an organization lead to a channel with `links` links. */
export async function leadIntoChannel(
  { database }: BenchGround,
  { org_id, campaigns }: Organization,
  links: number,
): Promise<void> {
  const id = newId()
  const now = new Date().toISOString()
  const channel = { org_id, id, bot_id: newId(), chat_id: '-1000000000001', title: 'Bench', kind: 'channel' }
  await database.kysely
    .insertInto('channels')
    .values({ ...channel, state: 'ready', created_at: now, updated_at: now })
    .execute()
  await database.worker.query(INSERT_LINKS, [org_id, id, links, Date.now()])
  await database.worker.query(INSERT_SHARED, [org_id, id, campaigns])
  await database.worker.query(LEAD, [org_id, id])
  await database.worker.query('analyze channel_links, link_batches')
}
