/** Audiences as SQL conditions on `subscribers`. Reads subscribers, channel_members, clicks, events and broadcast_sends. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type pg from 'pg'
import type { Tables } from '../../ground/db/tables.ts'
import type { Audience } from '../../contract/telegram-audience.ts'

type BotOfAudience = { readonly org_id: number; readonly bot_id: string }
type Condition = RawBuilder<boolean>

/** Whether a subscriber (`s`) of the organization is in the audience and may be messaged. */
export function audienceOf(org_id: number, audience: Audience): Condition {
  return sql<boolean>`${sql.join([isWritable(audience), ...audienceConditions(org_id, audience)], sql` and `)}`
}

/** The conditions of the audience alone; all must hold. */
export const audienceConditions = (org_id: number, audience: Audience): readonly Condition[] => [
  ...ofPerson(audience),
  ...ofChannels(org_id, audience),
  ...ofClick(org_id, audience),
  ...ofEvents(org_id, audience),
  ...ofBroadcast(org_id, audience),
]

/** Whether a subscriber (`s`) may still be messaged; checked again before each message. */
export function isWritable({ states = ['reachable'] }: Pick<Audience, 'states'>): Condition {
  const reached = states.filter(state => state !== 'opted_out')
  // People who opted out are included only if the audience names them.
  const state = sql<boolean>`s.state = any(${reached.length === 0 ? ['reachable'] : reached})`
  return states.includes('opted_out') ? state : sql<boolean>`${state} and s.opted_out_at is null`
}

function* ofPerson({ campaigns, started_from, started_to, language }: Audience): Generator<Condition> {
  if (campaigns !== undefined) yield sql`s.campaign_id = any(${campaigns}::uuid[])`
  if (started_from !== undefined) yield sql`s.started_at >= ${started_from}`
  if (started_to !== undefined) yield sql`s.started_at < ${started_to}`
  if (language !== undefined) {
    const codes = language.map(code => code.toLowerCase())
    yield sql`(lower(s.language) = any(${codes}) or split_part(lower(s.language), '-', 1) = any(${codes}))`
  }
}

function* ofChannels(org_id: number, { channels }: Audience): Generator<Condition> {
  const isIn = (ids: readonly string[]) => sql`exists (
    select 1 from channel_members m
    where m.org_id = ${org_id} and m.channel_id = any(${ids}::uuid[]) and m.telegram_user_id = s.telegram_user_id and m.state = 'in')`
  if (channels?.in !== undefined) yield sql`${isIn(channels.in)}`
  if (channels?.not_in !== undefined) yield sql`not ${isIn(channels.not_in)}`
}

function* ofClick(org_id: number, { geo, sub1 }: Audience): Generator<Condition> {
  if (geo === undefined && sub1 === undefined) return
  const ofGeo = geo === undefined ? sql`` : sql` and c.geo = any(${geo})`
  const ofSub = sub1 === undefined ? sql`` : sql` and c.sub1 = any(${sub1})`
  yield sql`exists (select 1 from clicks c where c.org_id = ${org_id} and c.id = s.click_id${ofGeo}${ofSub})`
}

function* ofEvents(org_id: number, { has_event, has_no_event }: Audience): Generator<Condition> {
  const has = (types: readonly string[]) => sql`exists (
    select 1 from events e where e.org_id = ${org_id} and e.click_id = s.click_id and e.type = any(${types}))`
  if (has_event !== undefined) yield sql`${has(has_event)}`
  if (has_no_event !== undefined) yield sql`not ${has(has_no_event)}`
}

function* ofBroadcast(org_id: number, { not_broadcast_id }: Audience): Generator<Condition> {
  // A skipped recipient got no message.
  if (not_broadcast_id !== undefined)
    yield sql`not exists (
      select 1 from broadcast_sends b
      where b.org_id = ${org_id} and b.broadcast_id = ${not_broadcast_id} and b.telegram_user_id = s.telegram_user_id
        and b.state in ('queued', 'sending', 'sent', 'unknown'))`
}

export type AudienceExample = {
  readonly id: string
  readonly telegram_user_id: string
  readonly name: string | null
  readonly language: string | null
  readonly campaign_id: string | null
  readonly started_at: string | null
}

const EXAMPLES = 10

/** The size of an audience. Counting a large one takes seconds, so it uses the worker's connections instead of the dashboard's. */
export async function audienceSize(
  { db, worker }: { db: Kysely<Tables>; worker: pg.Pool },
  { org_id, bot_id }: BotOfAudience,
  audience: Audience,
): Promise<number> {
  const { sql: text, parameters } = sql`
    select count(*)::int as count from subscribers s
    where s.org_id = ${org_id} and s.bot_id = ${bot_id} and ${audienceOf(org_id, audience)}`.compile(db)
  const { rows } = await worker.query<{ count: number }>(text, [...parameters])
  return rows[0]?.count ?? 0
}

/** The newest subscribers of an audience. */
export async function audienceExamples(
  { db, worker }: { db: Kysely<Tables>; worker: pg.Pool },
  { org_id, bot_id }: BotOfAudience,
  audience: Audience,
): Promise<AudienceExample[]> {
  const { sql: text, parameters } = sql`
    select s.id, s.telegram_user_id, s.name, s.language, s.campaign_id, s.started_at
    from subscribers s
    where s.org_id = ${org_id} and s.bot_id = ${bot_id} and ${audienceOf(org_id, audience)}
    order by s.id desc limit ${sql.lit(EXAMPLES)}`.compile(db)
  const { rows } = await worker.query<AudienceExample>(text, [...parameters])
  return rows
}
