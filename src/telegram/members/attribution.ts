/**
 * Which click brought somebody into a channel, and how surely that is known: by a link that is this click's alone, by what the person has done before,
 * by the link that all of a campaign share. Owns no table. Reads `events`, `subscribers`, `bots` and `join_requests`.
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

/** Whom it is about, where. */
export type PersonInChat = {
  readonly org_id: number
  readonly bot_id: string
  readonly telegram_user_id: string
  readonly chat: EventChat
}

/** What of it lies outside of the room. */
export type JoinRecording = {
  readonly db: Kysely<Tables>
  readonly database: Pick<Database, 'away'>
  readonly conversions: Pick<Conversions, 'recordStart' | 'recordOwn' | 'recordInChat'>
  readonly clicks: Pick<Clicks, 'isKept'>
}

/** How a click is known. */
type Surely = Exclude<Certainty, 'organic'>
type Way = { readonly click_id: string; readonly certainty: Surely; readonly link_id?: string | null }
/** What somebody's join or request was counted on. */
export type CountedClick = Way & { readonly event_id: string; readonly campaign_id: string | null }

/** How long a start, a request or a launch says by which click a person has come. */
const REMEMBERED_DAYS = 30
/** How long after a click that was led to a shared link a join is taken for its. Clocks differ: by so much it may seem to come before. */
const SHARED_MS = HOUR_MS
const AHEAD_MS = MINUTE_MS

type Sought = PersonInChat & {
  readonly channel: StoredChannel
  readonly type: ChatType
  readonly link: UsedLink | undefined
  readonly at: string
}

/**
 * Counts a join or a request on the first click that there is of the ways it may be known by, once for ever; undefined where nobody knows of one.
 * Refuses `service_unavailable` while a click may still wait in a journal.
 */
export async function countOnClick(recording: JoinRecording, sought: Sought): Promise<CountedClick | undefined> {
  for await (const way of waysIn(recording, sought)) {
    const counted = await countOn(recording, sought, sought.type, way)
    if (counted !== undefined) return counted
  }
  return undefined
}

/** Counts it on this click; undefined for one that is not the organization's. Where it was counted before, it says on which. */
export async function countOn(
  { conversions }: Pick<JoinRecording, 'conversions'>,
  { org_id, bot_id, telegram_user_id, chat }: PersonInChat,
  type: ChatType,
  way: Way,
): Promise<CountedClick | undefined> {
  const { click_id, certainty } = way
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
    if (event.click_id === click_id) return { ...way, event_id, campaign_id }
    return { click_id: event.click_id, event_id, campaign_id, link_id: null, certainty: saidBy(event.payload) }
  } catch (error) {
    if (isOrganic(error)) return undefined
    throw error
  }
}

export const chatPayload = ({ id, title }: EventChat) => ({
  chat_id: id,
  ...(title === undefined ? {} : { chat_title: title }),
})

/** Of an event of a version before, which did not say how its click was known: at least by the person. */
function saidBy(payload: Readonly<Record<string, unknown>> | null): Surely {
  const said = payload?.['attribution']
  return said === 'link' || said === 'campaign' ? said : 'person'
}

/** The clicks that come into question, the surest first. */
async function* waysIn(recording: JoinRecording, sought: Sought): AsyncGenerator<Way> {
  const { db } = recording
  const { org_id, channel, telegram_user_id, link } = sought
  const grant = link === undefined ? undefined : await grantOf(db, org_id, link)
  const isOurs = grant !== undefined && grant.channel_id === channel.id
  if (isOurs && grant.click_id !== undefined)
    yield { click_id: grant.click_id, certainty: 'link', link_id: grant.link_id }
  // Whoever has a link of the pool was given it: by a click that is on its way out of a journal.
  else if (isOurs && grant.purpose === 'pool' && mayWait(recording, org_id))
    refuse('service_unavailable', { headers: { 'retry-after': '5' } })
  const named = grant === undefined ? clickInLinkName(link) : undefined
  if (named !== undefined) yield { click_id: named, certainty: 'link' }
  const asked = sought.type === 'channel_join' ? await clickOfRequest(db, sought) : undefined
  if (asked !== undefined) yield asked
  const person = await clickOfPerson(db, org_id, telegram_user_id)
  if (person !== undefined) yield { click_id: person, certainty: 'person' }
  if (!isOurs || grant.purpose !== 'shared' || channel.shared_joins === 'organic') return
  const shared = await takeShared(db, sought, grant.link_id)
  if (shared !== undefined) yield { click_id: shared, certainty: 'campaign', link_id: grant.link_id }
}

/** Whether clicks, with the links they were given, may be in a journal as of now: of this process, or of another one for a while after an outage. */
const mayWait = ({ clicks, database }: JoinRecording, org_id: number): boolean =>
  clicks.isKept()(org_id) || database.away.since() !== undefined

/** Who asked to be let in was known then already, and the link they are let in by is told to nobody. */
async function clickOfRequest(
  db: Kysely<Tables>,
  { org_id, channel, telegram_user_id }: Sought,
): Promise<Way | undefined> {
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
    ) done
    where at >= ${since}
    order by at desc
    limit 1`.execute(db)
  return rows[0]?.click_id
}

/** One at a time for a person: told of at two processes at once, a join takes one click. */
async function takeShared(
  db: Kysely<Tables>,
  { org_id, channel, telegram_user_id, type, at }: Sought,
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
