/**
 * Attributes joins and requests to join to clicks, with a certainty: by a link given to one click alone, by an earlier action of the person, or by a
 * campaign's shared link. Owns no table. Reads `events`, `subscribers`, `bots` and `join_requests`.
 */
import { type Kysely, sql } from 'kysely'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Database } from '../../ground/db/connect.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Clicks } from '../../intake/clicks/clicks.ts'
import type { Conversions } from '../../intake/events/conversions.ts'
import { type ChatType, startId } from '../../intake/events/identity.ts'
import { grantOf, takeSharedGrant } from '../../traffic/invite-links/invite-links.ts'
import { isOrganic } from '../bots/organic.ts'
import type { StoredChannel } from '../channels/rows.ts'
import type { Certainty } from './api.ts'
import { type EventChat, clickInLinkName, type UsedLink } from './chat-events.ts'

/** A person in a chat, as a bot reported them. */
export type PersonInChat = {
  readonly org_id: number
  readonly bot_id: string
  readonly telegram_user_id: string
  readonly chat: EventChat
}

/** The parts that recording a join or a request needs. */
export type JoinRecording = {
  readonly db: Kysely<Tables>
  readonly database: Pick<Database, 'away'>
  readonly conversions: Pick<Conversions, 'recordStart' | 'recordOwn' | 'recordInChat'>
  readonly clicks: Pick<Clicks, 'isKept'>
}

type ClickCertainty = Exclude<Certainty, 'organic'>
type CandidateClick = {
  readonly click_id: string
  readonly certainty: ClickCertainty
  readonly link_id?: string | null
}
/** The click on which a join or request was recorded. */
export type CreditedClick = CandidateClick & { readonly event_id: string; readonly campaign_id: string | null }

/** How long a start, a request or a launch attributes later joins of the person. */
const REMEMBERED_DAYS = 30
/** How long after a click a join by its shared link counts for it. Clocks differ, so the join may seem to come this much before the click. */
const SHARED_MS = HOUR_MS
const AHEAD_MS = MINUTE_MS

type JoinToCount = PersonInChat & {
  readonly channel: StoredChannel
  readonly type: ChatType
  readonly link: UsedLink | undefined
  readonly at: string
}

/**
 * Records a join or request on the surest click of the organization, once for ever; undefined if there is no click. Refuses `service_unavailable` while the
 * click may still wait in a journal.
 */
export async function countOnClick(recording: JoinRecording, join: JoinToCount): Promise<CreditedClick | undefined> {
  for await (const candidate of candidateClicks(recording, join)) {
    const credited = await countOn(recording, join, join.type, candidate)
    if (credited !== undefined) return credited
  }
  return undefined
}

/** Records it on this click; undefined if the organization has no such click. If it was recorded before, returns the click of that time. */
export async function countOn(
  { conversions }: Pick<JoinRecording, 'conversions'>,
  { org_id, bot_id, telegram_user_id, chat }: PersonInChat,
  type: ChatType,
  candidate: CandidateClick,
): Promise<CreditedClick | undefined> {
  const { click_id, certainty } = candidate
  const payload = { ...chatPayload(chat), attribution: certainty }
  try {
    const { event } = await conversions.recordInChat({
      org_id,
      bot_id,
      telegram_user_id,
      click_id,
      type,
      chat_id: chat.id,
      payload,
    })
    const { id: event_id, campaign_id } = event
    if (event.click_id === click_id) return { ...candidate, event_id, campaign_id }
    return { click_id: event.click_id, event_id, campaign_id, link_id: null, certainty: certaintyIn(event.payload) }
  } catch (error) {
    if (isOrganic(error)) return undefined
    throw error
  }
}

export const chatPayload = ({ id, title }: EventChat) => ({
  chat_id: id,
  ...(title === undefined ? {} : { chat_title: title }),
})

/** The certainty in an event's payload. Events of earlier versions have none: their click was known at least by the person. */
function certaintyIn(payload: Readonly<Record<string, unknown>> | null): ClickCertainty {
  const attribution = payload?.['attribution']
  return attribution === 'link' || attribution === 'campaign' ? attribution : 'person'
}

/** The possible clicks, the surest first. */
async function* candidateClicks(recording: JoinRecording, join: JoinToCount): AsyncGenerator<CandidateClick> {
  const { db } = recording
  const { org_id, channel, telegram_user_id, link } = join
  const grant = link === undefined ? undefined : await grantOf(db, org_id, link)
  const isOurs = grant !== undefined && grant.channel_id === channel.id
  if (isOurs && grant.click_id !== undefined)
    yield { click_id: grant.click_id, certainty: 'link', link_id: grant.link_id }
  // A pool link that is in use was given to a click, which may still wait in a journal.
  else if (isOurs && grant.purpose === 'pool' && mayWait(recording, org_id))
    refuse('service_unavailable', { headers: { 'retry-after': '5' } })
  const named = grant === undefined ? clickInLinkName(link) : undefined
  if (named !== undefined) yield { click_id: named, certainty: 'link' }
  const requested = join.type === 'channel_join' ? await clickOfRequest(db, join) : undefined
  if (requested !== undefined) yield requested
  const person = await clickOfPerson(db, org_id, telegram_user_id)
  if (person !== undefined) yield { click_id: person, certainty: 'person' }
  if (!isOurs || grant.purpose !== 'shared' || channel.shared_joins === 'organic') return
  const shared = await claimSharedClick(db, join, grant.link_id)
  if (shared !== undefined) yield { click_id: shared, certainty: 'campaign', link_id: grant.link_id }
}

/** Whether clicks and their links may wait in a journal: in this process's, or during and shortly after an outage in another process's. */
const mayWait = ({ clicks, database }: JoinRecording, org_id: number): boolean =>
  clicks.isKept()(org_id) || database.away.since() !== undefined

/** The click of the person's request. Telegram does not report the link of a join that follows a request. */
async function clickOfRequest(
  db: Kysely<Tables>,
  { org_id, channel, telegram_user_id }: JoinToCount,
): Promise<CandidateClick | undefined> {
  const row = await db
    .selectFrom('join_requests')
    .select(['click_id', 'certainty', 'link_id'])
    .where('org_id', '=', org_id)
    .where('channel_id', '=', channel.id)
    .where('telegram_user_id', '=', telegram_user_id)
    .where('event_id', 'is not', null)
    .executeTakeFirst()
  if (row?.click_id == null) return undefined
  const { click_id, link_id, certainty } = row
  return { click_id, link_id, certainty: certainty === 'link' || certainty === 'campaign' ? certainty : 'person' }
}

/** The click of the person's newest start, request or launch with any bot the organization has or had. */
export async function clickOfPerson(
  db: Kysely<Tables>,
  org_id: number,
  telegram_user_id: string,
): Promise<string | undefined> {
  const bots = await db.selectFrom('bots').select('id').where('org_id', '=', org_id).execute()
  const starts = bots.map(({ id }) => startId(org_id, id, telegram_user_id))
  const since = new Date(Date.now() - REMEMBERED_DAYS * DAY_MS).toISOString()
  const { rows } = await sql<{ click_id: string }>`
    select click_id from (
      select click_id, created_at as at from events where org_id = ${org_id} and id = any(${starts}::uuid[])
      union all
      select click_id, created_at from events
      where org_id = ${org_id} and telegram_user_id = ${telegram_user_id} and source = 'service'
        and type in ('join_request', 'miniapp_launch')
      union all
      select click_id, coalesce(click_at, started_at) from subscribers
      where org_id = ${org_id} and telegram_user_id = ${telegram_user_id} and click_id is not null
    ) actions
    where at >= ${since}
    order by at desc
    limit 1`.execute(db)
  return rows[0]?.click_id
}

/** Claims a click that got the shared link. The lock makes a join that reaches two processes at once claim one click. */
async function claimSharedClick(
  db: Kysely<Tables>,
  { org_id, channel, telegram_user_id, type, at }: JoinToCount,
  link_id: string,
): Promise<string | undefined> {
  const since = new Date(Date.parse(at) - SHARED_MS).toISOString()
  const until = new Date(Date.parse(at) + AHEAD_MS).toISOString()
  const table = type === 'channel_join' ? ('channel_members' as const) : ('join_requests' as const)
  return await db.transaction().execute(async trx => {
    await trx
      .selectFrom(table)
      .select('id')
      .where('org_id', '=', org_id)
      .where('channel_id', '=', channel.id)
      .where('telegram_user_id', '=', telegram_user_id)
      .forUpdate()
      .execute()
    return await takeSharedGrant(trx, { org_id, link_id, telegram_user_id, since, until })
  })
}
