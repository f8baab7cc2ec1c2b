// Broadcasts of the demo's bot: one that was sent, with every possible outcome, a draft, and a scheduled one. Nothing is sent: the bot is made up, and
// Sluice does not send for a bot that Telegram has never confirmed.
import type { Transaction } from 'kysely'
import { DAY_MS, HOUR_MS } from '../src/contract/days.ts'
import { newId } from '../src/contract/ids.ts'
import type { Tables } from '../src/ground/db/tables.ts'
import { chanceOf } from './chance.ts'

type Founded = { org_id: number; user_id: string; seed: string; now: number }

/** The days since it was sent. */
const SENT_DAYS = 4
const LATER_DAYS = 21
/** The time between two messages, by the bot's speed. */
const EACH_MS = 50

const OUTCOMES = [
  { state: 'sent', share: 0.93, reason: null },
  { state: 'blocked', share: 0.045, reason: 'Forbidden: bot was blocked by the user' },
  { state: 'gone', share: 0.012, reason: 'Forbidden: user is deactivated' },
  { state: 'skipped', share: 0.01, reason: 'opted out or not to be reached any more' },
  { state: 'unknown', share: 0.003, reason: 'Telegram could not be reached' },
] as const
type Outcome = (typeof OUTCOMES)[number]

/** The outcome for a draw. */
function outcomeOf(chance: number): Outcome {
  let left = chance
  for (const outcome of OUTCOMES) {
    left -= outcome.share
    if (left < 0) return outcome
  }
  return OUTCOMES[0]
}

const BONUS = {
  text: 'Hi {first_name|there}, <b>your welcome bonus is still open</b>.\n\nDouble your first deposit until Sunday.',
  buttons: [[{ text: 'Get the bonus', url: 'https://coinpulse.example/bonus?click={click_id}&b={broadcast_id}' }]],
}
const WEEKEND = {
  text: '<b>Weekend signals are out.</b>\n\nThree coins to watch, {first_name|trader}.',
  buttons: [[{ text: 'Open the signals', url: 'https://coinpulse.example/weekend?click={click_id}' }]],
}

/** The people who had started the bot by then, each with the click of their newest start, and the outcome of the message. */
async function recipientsAt(trx: Transaction<Tables>, { org_id, seed }: Founded, began: number): Promise<Recipient[]> {
  const starts = await trx
    .selectFrom('events')
    .select(['telegram_user_id', 'click_id'])
    .where('org_id', '=', org_id)
    .where('type', '=', 'bot_start')
    .where('telegram_user_id', 'is not', null)
    .where('created_at', '<', iso(began))
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  const clickOf = new Map(starts.map(({ telegram_user_id, click_id }) => [telegram_user_id ?? '', click_id]))
  const chance = chanceOf(`${seed} broadcasts`)
  return [...clickOf].map(([telegram_user_id, click_id], at) => ({
    telegram_user_id,
    click_id,
    outcome: outcomeOf(chance()),
    ms: began + at * EACH_MS,
  }))
}

const written = (ms: number) => ({ created_at: iso(ms), updated_at: iso(ms) })

/** Inserts them, for the people who had started the bot by then. */
export async function insertBroadcasts(trx: Transaction<Tables>, founded: Founded): Promise<void> {
  const { org_id, user_id, now } = founded
  const { id: bot_id } = await trx
    .selectFrom('bots')
    .select('id')
    .where('org_id', '=', org_id)
    .executeTakeFirstOrThrow()
  const began = now - SENT_DAYS * DAY_MS
  const recipients = await recipientsAt(trx, founded, began)
  const sent_id = newId(began - HOUR_MS)
  const number = (state: Outcome['state']) => recipients.filter(({ outcome }) => outcome.state === state).length
  const of = (id: string, name: string, state: string) => ({ org_id, id, bot_id, name, state, started_by: user_id })
  const counts = Object.fromEntries(OUTCOMES.map(({ state }) => [state, number(state)]))
  const done = {
    ...of(sent_id, 'Welcome bonus, last call', 'done'),
    ...counts,
    is_prepared: true,
    message: JSON.stringify(BONUS),
    audience: JSON.stringify({}),
    recipients: recipients.length,
    ...written(began - HOUR_MS),
    started_at: iso(began),
    ended_at: iso(began + recipients.length * EACH_MS),
  }
  const later = {
    ...of(newId(now - 2 * DAY_MS), 'Weekend signals', 'scheduled'),
    message: JSON.stringify(WEEKEND),
    audience: JSON.stringify({}),
    starts_at: iso(now + LATER_DAYS * DAY_MS),
    send_window: JSON.stringify({ from: '09:00', to: '21:00', time_zone: 'Europe/Kyiv' }),
    ...written(now - 2 * DAY_MS),
  }
  const draft = {
    ...of(newId(now - DAY_MS), 'Registered, no deposit', 'draft'),
    message: JSON.stringify({ text: 'Your account is waiting, {first_name|friend}.' }),
    audience: JSON.stringify({ has_event: ['registration'], has_no_event: ['ftd', 'deposit'] }),
    started_by: null,
    ...written(now - DAY_MS),
  }
  for (const one of [done, later, draft]) await trx.insertInto('broadcasts').values(one).execute()
  await insertRecipients(trx, { org_id, broadcast_id: sent_id, bot_id }, recipients)
}

type Recipient = { telegram_user_id: string; click_id: string; outcome: Outcome; ms: number }

async function insertRecipients(
  trx: Transaction<Tables>,
  { org_id, broadcast_id, bot_id }: { org_id: number; broadcast_id: string; bot_id: string },
  recipients: readonly Recipient[],
): Promise<void> {
  const people = await trx
    .selectFrom('subscribers')
    .select(['id', 'telegram_user_id'])
    .where('org_id', '=', org_id)
    .where('bot_id', '=', bot_id)
    .execute()
  const idOf = new Map(people.map(({ id, telegram_user_id }) => [telegram_user_id, id]))
  const rows = recipients.map(({ telegram_user_id, click_id, outcome: { state, reason }, ms }, at) => ({
    org_id,
    broadcast_id,
    telegram_user_id,
    subscriber_id: idOf.get(telegram_user_id) ?? newId(ms),
    state,
    click_id,
    message_id: state === 'sent' ? String(4000 + at) : null,
    reason,
    at: iso(ms),
  }))
  for (let from = 0; from < rows.length; from += 1000)
    await trx
      .insertInto('broadcast_sends')
      .values(rows.slice(from, from + 1000))
      .execute()
}

const iso = (ms: number): string => new Date(ms).toISOString()
