/**
 * The people whom a bot may message, as Telegram reports it. Owns `subscribers`. Updates come late and out of order, so Telegram's time decides: an update
 * older than the stored state changes nothing.
 */
import { type Kysely, sql } from 'kysely'
import { newId } from '../../contract/ids.ts'
import type { Message } from '../../contract/telegram-message.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Deed } from '../../ground/room.ts'
import type { updateBot } from '../bots/api.ts'
import type { Failure } from '../bots/telegram.ts'
import type { SubscriberSource, Reachability } from './api.ts'

const REFUSALS: readonly (readonly [RegExp, Exclude<Reachability, 'reachable'>])[] = [
  [/bot was blocked by the user/i, 'blocked'],
  [/user is deactivated/i, 'gone'],
  [
    /can't initiate conversation|chat not found|user not found|PEER_ID_INVALID|bot can't send messages to bots/i,
    'unreachable',
  ],
]

/** Telegram checks the chat that a message is copied from before the recipient, so these may mean that chat. */
const ABOUT_SOURCE = /chat not found|PEER_ID_INVALID/i

/** The person's reachability after a refused message; undefined if the message or the bot is at fault. */
export function reachabilityAfter(
  { kind, description }: Failure,
  message: Message,
): Exclude<Reachability, 'reachable'> | undefined {
  if (kind !== 'refused' || ('copy' in message && ABOUT_SOURCE.test(description))) return undefined
  return REFUSALS.find(([pattern]) => pattern.test(description))?.[1]
}

/** A person in a bot. */
export type SubscriberKey = { readonly org_id: number; readonly bot_id: string; readonly telegram_user_id: string }

type ReachabilityReport = SubscriberKey & {
  readonly state: Reachability
  /** The time of the state (ISO 8601). */
  readonly at: string
}

/** Records a reachability that Telegram reports, unless a newer one is stored. Creates no subscriber. */
export async function recordReachability(
  db: Kysely<Tables>,
  { org_id, bot_id, telegram_user_id, state, at }: ReachabilityReport,
): Promise<void> {
  await sql`
    update subscribers set state = ${state}, state_at = ${at}
    where org_id = ${org_id} and bot_id = ${bot_id} and telegram_user_id = ${telegram_user_id} and state_at <= ${at}`.execute(
    db,
  )
}

/**
 * The time (ISO 8601) in whole seconds, as Telegram reports its times. An update within the same second is then not older, and the later report of the
 * second wins.
 */
const inSeconds = (at: string): string => new Date(Math.floor(Date.parse(at) / 1000) * 1000).toISOString()

/**
 * Records the reachability that a message just sent has shown. `at` is our own time; Telegram's clock, by which other states are recorded, may be up to ten
 * seconds ahead of it.
 */
export async function markSubscriber(
  db: Kysely<Tables>,
  { org_id, bot_id, telegram_user_id, state, at: moment }: ReachabilityReport,
): Promise<void> {
  const at = inSeconds(moment)
  await sql`
    update subscribers set state = ${state}, state_at = greatest(state_at, ${at}::timestamptz)
    where org_id = ${org_id} and bot_id = ${bot_id} and telegram_user_id = ${telegram_user_id}
      and state_at <= ${at}::timestamptz + interval '10 seconds'`.execute(db)
}

/** Opts out a person who has just pressed the unsubscribe button. `moment` is our own time; it counts as newer than the stored state even if clocks differ. */
export async function optOut(
  db: Kysely<Tables>,
  { org_id, bot_id, telegram_user_id }: SubscriberKey,
  moment: string,
): Promise<void> {
  const at = inSeconds(moment)
  await sql`
    update subscribers
    set opted_out_at = greatest(${at}::timestamptz, opt_changed_at), opt_changed_at = greatest(${at}::timestamptz, opt_changed_at)
    where org_id = ${org_id} and bot_id = ${bot_id} and telegram_user_id = ${telegram_user_id}`.execute(db)
}

/** An action of a person. `at` is Telegram's time of it, ISO 8601. */
export type PersonActivity = SubscriberKey & {
  readonly at: string
  readonly source: SubscriberSource
  readonly is_start?: boolean
  readonly opts_out?: boolean
  readonly language?: string | null
  /** Undefined: not reported. Null: the bot keeps no names. */
  readonly name?: string | null
  /** The click in the action, if it is this organization's. */
  readonly click?: { readonly id: string; readonly campaign_id: string | null } | undefined
}

/** Records an action that shows that the bot may message the person; creates the subscriber if there is none. */
export async function recordActivity(db: Kysely<Tables>, activity: PersonActivity): Promise<void> {
  const { org_id, bot_id, telegram_user_id, at, source, is_start, opts_out, language = null, name, click } = activity
  // A bot that keeps no names erases the name even by an old update; otherwise the newest name stays.
  const named =
    name === undefined
      ? sql`s.name`
      : name === null
        ? sql`null`
        : sql`case when s.last_seen_at > excluded.last_seen_at then s.name else excluded.name end`
  const opted = is_start === true || opts_out === true ? at : null
  await sql`
    insert into subscribers as s (
      org_id, bot_id, telegram_user_id, id, state, state_at, source, created_at, started_at, last_seen_at,
      language, name, click_id, campaign_id, click_at, opted_out_at, opt_changed_at)
    values (
      ${org_id}, ${bot_id}, ${telegram_user_id}, ${newId()}, 'reachable', ${at}, ${source}, ${new Date().toISOString()},
      ${is_start === true ? at : null}, ${at}, ${language}, ${name ?? null}, ${click?.id ?? null}, ${click?.campaign_id ?? null},
      ${click === undefined ? null : at}, ${opts_out === true ? at : null}, ${opted})
    on conflict (org_id, bot_id, telegram_user_id) do update set
      state = case when s.state_at <= excluded.state_at then excluded.state else s.state end,
      state_at = greatest(s.state_at, excluded.state_at),
      started_at = greatest(s.started_at, excluded.started_at),
      last_seen_at = greatest(s.last_seen_at, excluded.last_seen_at),
      language = case when s.last_seen_at > excluded.last_seen_at then s.language else coalesce(excluded.language, s.language) end,
      name = ${named},
      click_id = case when excluded.click_at >= coalesce(s.click_at, excluded.click_at) then excluded.click_id else s.click_id end,
      campaign_id = case when excluded.click_at >= coalesce(s.click_at, excluded.click_at) then excluded.campaign_id else s.campaign_id end,
      click_at = greatest(s.click_at, excluded.click_at),
      opted_out_at = case when excluded.opt_changed_at >= coalesce(s.opt_changed_at, excluded.opt_changed_at)
        then excluded.opted_out_at else s.opted_out_at end,
      opt_changed_at = greatest(s.opt_changed_at, excluded.opt_changed_at)`.execute(db)
}

/** The click with this id if it is the organization's. */
export async function clickOfOrganization(
  db: Kysely<Tables>,
  org_id: number,
  id: string | undefined,
): Promise<PersonActivity['click']> {
  if (id === undefined) return undefined
  const click = await db
    .selectFrom('clicks')
    .select(['id', 'campaign_id'])
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .executeTakeFirst()
  return click
}

export async function isSubscriber(
  db: Kysely<Tables>,
  { org_id, bot_id, telegram_user_id }: SubscriberKey,
): Promise<boolean> {
  const row = await db
    .selectFrom('subscribers')
    .select('id')
    .where('org_id', '=', org_id)
    .where('bot_id', '=', bot_id)
    .where('telegram_user_id', '=', telegram_user_id)
    .executeTakeFirst()
  return row !== undefined
}

async function eraseNames(db: Kysely<Tables>, { org_id, bot_id }: Omit<SubscriberKey, 'telegram_user_id'>) {
  await sql`
    update subscribers set name = null where org_id = ${org_id} and bot_id = ${bot_id} and name is not null`.execute(db)
}

/** Extends the change of a bot: switching `keep_names` off also erases the bot's stored names. */
export const withNamesErased =
  (update: Deed<typeof updateBot>): Deed<typeof updateBot> =>
  async (context, call) => {
    const bot = await update(context, call)
    if (call.body.keep_names === false) await eraseNames(context.db, { org_id: context.actor.org_id, bot_id: bot.id })
    return bot
  }
