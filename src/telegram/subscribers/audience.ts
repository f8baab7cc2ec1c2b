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

/** The filters that are not conditions on subscribers: `isWritable` has the states, and the quiet hours delay messages. */
type NoCondition = 'states' | 'quiet_hours'

/** SQL of each filter. No filter can be left out, because without its condition a message would go to people who were excluded. */
const CONDITIONS: {
  readonly [Name in Exclude<keyof Audience, NoCondition>]-?: (
    asked: NonNullable<Audience[Name]>,
    org_id: number,
  ) => Condition
} = {
  campaigns: ids => sql`s.campaign_id = any(${ids}::uuid[])`,
  channels({ in: inside, not_in: outside }, org_id) {
    const isIn = (ids: readonly string[]) => sql`exists (
      select 1 from channel_members m
      where m.org_id = ${org_id} and m.channel_id = any(${ids}::uuid[]) and m.telegram_user_id = s.telegram_user_id and m.state = 'in')`
    const [isInside, isOutside] = [inside && isIn(inside), outside && sql`not ${isIn(outside)}`]
    return sql`${isInside ?? sql`true`} and ${isOutside ?? sql`true`}`
  },
  has_event: (types, org_id) => hasEvent(org_id, types),
  has_no_event: (types, org_id) => sql`not ${hasEvent(org_id, types)}`,
  started_from: time => sql`s.started_at >= ${time}`,
  started_to: time => sql`s.started_at < ${time}`,
  geo: (countries, org_id) => ofClick(org_id, sql`c.geo = any(${countries})`),
  sub1: (values, org_id) => ofClick(org_id, sql`c.sub1 = any(${values})`),
  language(asked) {
    const codes = asked.map(code => code.toLowerCase())
    return sql`(lower(s.language) = any(${codes}) or split_part(lower(s.language), '-', 1) = any(${codes}))`
  },
  // A skipped recipient got no message.
  not_broadcast_id: (id, org_id) => sql`not exists (
    select 1 from broadcast_sends b
    where b.org_id = ${org_id} and b.broadcast_id = ${id} and b.telegram_user_id = s.telegram_user_id
      and b.state in ('queued', 'sending', 'sent', 'unknown'))`,
}

const ofClick = (org_id: number, condition: Condition): Condition =>
  sql`exists (select 1 from clicks c where c.org_id = ${org_id} and c.id = s.click_id and ${condition})`

const hasEvent = (org_id: number, types: readonly string[]): Condition => sql`exists (
  select 1 from events e where e.org_id = ${org_id} and e.click_id = s.click_id and e.type = any(${types}))`

/** The conditions of the audience alone; all must hold. */
export function audienceConditions(org_id: number, audience: Audience): readonly Condition[] {
  const names = Object.keys(CONDITIONS) as (keyof typeof CONDITIONS)[]
  return names.flatMap(name => {
    const asked = audience[name]
    // TypeScript does not see by itself that a filter and its condition belong together.
    return asked === undefined ? [] : [CONDITIONS[name](asked as never, org_id)]
  })
}

/** Whether a subscriber (`s`) may still be messaged; checked again before each message. */
export function isWritable({ states = ['reachable'] }: Pick<Audience, 'states'>): Condition {
  const reached = states.filter(state => state !== 'opted_out')
  // People who opted out are included only if the audience names them.
  const state = sql<boolean>`s.state = any(${reached.length === 0 ? ['reachable'] : reached})`
  return states.includes('opted_out') ? state : sql<boolean>`${state} and s.opted_out_at is null`
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
