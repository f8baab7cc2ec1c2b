/** Reads subscribers: the list, the counts, and one subscriber with the person's history. */
import { type Kysely, sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Audience } from '../../contract/telegram-audience.ts'
import { newestFirstFile } from '../../ground/db/list-file.ts'
import { newestFirst, picked, type Wanted } from '../../ground/db/lists.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf } from '../../ground/room.ts'
import * as api from './api.ts'
import { audienceConditions } from './audience.ts'
import { historyOf } from './history.ts'

const COLUMNS = [
  'id',
  'bot_id',
  'telegram_user_id',
  'opted_out_at',
  'source',
  'created_at',
  'started_at',
  'last_seen_at',
  'language',
  'name',
  'click_id',
  'campaign_id',
] as const

type SubscriberRow = Pick<Tables['subscribers'], Exclude<(typeof COLUMNS)[number], 'source'>> & {
  readonly source: api.SubscriberSource
  readonly state: (typeof api.SUBSCRIBER_STATES)[number]
  readonly state_at: string | null
  readonly since: string
}

const STATE = sql<
  SubscriberRow['state']
>`case when state = 'reachable' and opted_out_at is not null then 'opted_out' else state end`

/** Null for an import, whose `state_at` is 1970-01-01. */
const REPORTED_AT = sql<string | null>`case when state_at > '1970-01-02' then state_at end`
const SINCE = sql<string>`coalesce(case when state = 'reachable' then opted_out_at end, ${REPORTED_AT}, created_at)`

const subscribersOf = (db: Kysely<Tables>, org_id: number) =>
  db
    .selectFrom('subscribers as s')
    .select(COLUMNS)
    .select(STATE.as('state'))
    .select([REPORTED_AT.as('state_at'), SINCE.as('since')])
    .where('s.org_id', '=', org_id)
    .$castTo<SubscriberRow>()

/** The conditions of a query that audiences have too, as an audience. */
function audienceIn({
  event,
  has_no_event,
  geo,
  sub1,
  channel_in,
  channel_not_in,
  started_from,
  started_to,
}: Wanted<Call<typeof api.listSubscribers>['query']>): Audience {
  const listOf = <Value>(value: Value | undefined) => (value === undefined ? undefined : [value])
  return {
    has_event: listOf(event),
    has_no_event: listOf(has_no_event),
    geo: listOf(geo),
    sub1: listOf(sub1),
    channels: { in: listOf(channel_in), not_in: listOf(channel_not_in) },
    started_from,
    started_to,
  }
}

/** Subscribers, newest first. */
export async function listSubscribers(
  { db, actor }: Context<typeof api.listSubscribers>,
  { query }: Call<typeof api.listSubscribers>,
) {
  return await newestFirst(listed(db, actor.org_id, query), query)
}

/** The listed subscribers as a CSV file. Refuses `too_many_lines`. */
export async function exportSubscribers(
  { db, actor }: Context<typeof api.exportSubscribers>,
  { query }: Call<typeof api.exportSubscribers>,
) {
  return await newestFirstFile(api.Subscriber, listed(db, actor.org_id, query))
}

/** Picked subscribers as a CSV file. Refuses `too_many_lines`. */
export async function exportPickedSubscribers(
  { db, actor }: Context<typeof api.exportPickedSubscribers>,
  { body }: Call<typeof api.exportPickedSubscribers>,
) {
  return await newestFirstFile(api.Subscriber, listed(db, actor.org_id, picked(body)))
}

function listed(db: Kysely<Tables>, org_id: number, wanted: Wanted<Call<typeof api.listSubscribers>['query']>) {
  const { ids, bot_id, state, source, campaign_id, language, from, to, telegram_user_id } = wanted
  const equal = { bot_id, source, campaign_id, language, telegram_user_id }
  let rows = subscribersOf(db, org_id)
  if (ids !== undefined) rows = rows.where('id', 'in', ids)
  for (const [column, value] of Object.entries(equal))
    if (value !== undefined) rows = rows.where(sql.ref(`s.${column}`), '=', value)
  if (state !== undefined) rows = rows.where('state', '=', state === 'opted_out' ? 'reachable' : state)
  if (state === 'opted_out') rows = rows.where('opted_out_at', 'is not', null)
  if (state === 'reachable') rows = rows.where('opted_out_at', 'is', null)
  if (from !== undefined) rows = rows.where('created_at', '>=', from)
  if (to !== undefined) rows = rows.where('created_at', '<=', to)
  for (const condition of audienceConditions(org_id, audienceIn(wanted))) rows = rows.where(condition)
  return rows
}

type SubscriberCounts = { bot_id: string } & Record<(typeof api.SUBSCRIBER_STATES)[number] | 'started_7d', number>

/** The counts of every bot that has subscribers and is not deleted. */
export async function countSubscribers({ db, actor: { org_id } }: Context<typeof api.countSubscribers>) {
  const { rows } = await sql<SubscriberCounts>`
    select s.bot_id,
      count(*) filter (where s.state = 'reachable' and s.opted_out_at is null)::int as reachable,
      count(*) filter (where s.state = 'reachable' and s.opted_out_at is not null)::int as opted_out,
      count(*) filter (where s.state = 'blocked')::int as blocked,
      count(*) filter (where s.state = 'gone')::int as gone,
      count(*) filter (where s.state = 'unreachable')::int as unreachable,
      count(*) filter (where s.started_at >= now() - interval '7 days')::int as started_7d
    from subscribers s
    join bots b on b.org_id = s.org_id and b.id = s.bot_id
    where s.org_id = ${org_id} and b.deleted_at is null
    group by s.bot_id`.execute(db)
  return { data: rows }
}

/** A subscriber and the person's history. Refuses `object_not_found`. */
export async function readSubscriber(
  { db, actor: { org_id } }: Context<typeof api.readSubscriber>,
  { params }: Call<typeof api.readSubscriber>,
) {
  const id = idOf(params.id)
  const subscriber = await subscribersOf(db, org_id).where('s.id', '=', id).executeTakeFirst()
  if (subscriber === undefined) return refuse('object_not_found')
  return { subscriber, ...(await historyOf(db, org_id, subscriber)) }
}
