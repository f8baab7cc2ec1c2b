/**
 * What Telegram has not told: once a day a bot's list of Stars is read for payments and refunds that are missing here, and subscriptions that have ended
 * without a word are cancelled. Only a list that was read after the end shows that nothing was paid.
 */
import { sql } from 'kysely'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import { fieldsOf } from '../../contract/json.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'
import { claimStarsRead, recordStarsRead } from '../bots/stars.ts'
import { callTelegram } from '../bots/telegram.ts'
import { telegramTime, personId } from '../bots/update.ts'
import { STARS } from './amounts.ts'
import {
  noteRefund,
  type PayingBot,
  payloadHash,
  recordCancellation,
  recordPayment,
  type PaymentRecording,
} from './recording.ts'

type Looking = Pick<Ground, 'db' | 'database' | 'config' | 'secrets' | 'log'> & Pick<PaymentRecording, 'conversions'>

const POLL_MS = 2000
const LEASE_MS = 10 * MINUTE_MS
const AGAIN_MS = HOUR_MS
const PAGE = 100
/** What has just been paid is on its way here by itself. */
const SETTLED_MS = MINUTE_MS
const MOST_PAGES = 500

const DUE = (among: Among) => `
  select b.org_id, b.id, b.stars_rate::text, b.token
  from bots b
  join organizations o on o.org_id = b.org_id
  where o.deleted_at is null and b.deleted_at is null and b.token_state = 'ok'
    and (b.mode = 'copy' or b.hook_set_at is not null) and (b.stars_look_at is null or b.stars_look_at <= now())
    and (b.send_after is null or b.send_after <= now())
    and (b.accept_payments or exists (
      select 1 from payments p where p.org_id = b.org_id and p.bot_id = b.id and p.currency = '${STARS}'))${among('b.org_id')}
  limit 20`

/** Reads the lists that are due; answers whether any was read to its end. */
async function lookAtDue(looking: Looking, signal: AbortSignal): Promise<boolean> {
  let isRead = false
  const { rows } = await askEverywhere<PayingBot & { token: Buffer }>(looking.database.worker, DUE)
  for (const { token, ...bot } of rows) {
    if (signal.aborted) break
    const before = await claimStarsRead(looking.db, bot, LEASE_MS)
    if (before === undefined) continue
    const read = await readList(looking, bot, looking.secrets.open(token), { before, signal })
    await recordStarsRead(looking.db, bot, read)
    isRead ||= read.isWhole
  }
  return isRead
}

/** How far a list was read: `seen` entries are behind us, `isWhole` says whether that is all there are, and in `next_ms` it is read again. */
type Read = { readonly seen: number; readonly isWhole: boolean; readonly next_ms: number }

/**
 * Telegram says the list is in the order of time. What was there at the last look is skipped, up to a page of it; where the newest come first after
 * all, it is read from the front until a page holds nothing new. What could not be read to its end goes on where it was left.
 */
async function readList(
  looking: Looking,
  bot: PayingBot,
  token: string,
  { before, signal }: { before: number; signal: AbortSignal },
): Promise<Read> {
  let offset = 0
  let seen = before
  let early: number | undefined
  const cut = (next_ms: number): Read => ({ seen: Math.min(seen, early ?? seen), isWhole: false, next_ms })
  const whole = (end: number): Read => {
    const next_ms = early === undefined ? DAY_MS * (0.9 + Math.random() / 10) : SETTLED_MS
    return { seen: Math.min(end, early ?? end), isWhole: true, next_ms }
  }
  for (let page = 0; page < MOST_PAGES; page += 1) {
    if (signal.aborted) return cut(0)
    const said = await callTelegram(looking.config.telegramApiRoot, token, 'getStarTransactions', {
      offset,
      limit: PAGE,
    })
    if (!said.ok) return cut(Math.max(LEASE_MS, (said.retry_after ?? 0) * 1000))
    const list = fieldsOf(said.result)['transactions']
    const entries = Array.isArray(list) ? list.map(fieldsOf) : []
    const isRising = Number(entries.at(-1)?.['date'] ?? 0) >= Number(entries[0]?.['date'] ?? 0)
    let isNews = false
    for (const [at, entry] of entries.entries()) {
      const found = await takeIn(looking, bot, entry)
      isNews ||= found === 'new'
      // The newest first: they are in front the next time, too.
      if (found === 'early') early ??= isRising ? offset + at : Number.POSITIVE_INFINITY
    }
    const end = offset + entries.length
    if (entries.length < PAGE) return whole(end)
    if (!isRising && !isNews && before > 0) return whole(before)
    offset = isRising ? Math.max(end, before - PAGE) : end
    if (isRising) seen = Math.max(before, offset)
  }
  return cut(0)
}

/** One entry of the list. `early`: it is not taken in yet. */
async function takeIn(
  looking: Looking,
  bot: PayingBot,
  entry: Readonly<Record<string, unknown>>,
): Promise<'new' | 'known' | 'early'> {
  const { id, amount, date, source, receiver } = entry
  const [from, to] = [fieldsOf(source), fieldsOf(receiver)]
  const at = telegramTime(date)
  if (typeof id !== 'string') return 'known'
  if (Date.parse(at) > Date.now() - SETTLED_MS) return 'early'
  if (isInvoice(to)) {
    await noteRefund(looking.db, bot, { charge_id: id, at })
    return 'known'
  }
  const telegram_user_id = personId(from['user'])
  if (!isInvoice(from) || telegram_user_id === undefined) return 'known'
  const { invoice_payload, subscription_period } = from
  const payload = typeof invoice_payload === 'string' ? invoice_payload : ''
  const isSubscription = typeof subscription_period === 'number' && subscription_period > 0
  const kind = !isSubscription
    ? 'one_off'
    : (await hasPaidBefore(looking, bot, { telegram_user_id, payload, at }))
      ? 'renewal'
      : 'first'
  const expires_at = isSubscription ? new Date(Date.parse(at) + subscription_period * 1000).toISOString() : null
  const isNew = await recordPayment(looking, bot, {
    telegram_user_id,
    charge_id: id,
    currency: STARS,
    total_amount: Number.isSafeInteger(amount) ? Number(amount) : 0,
    invoice_payload: payload,
    kind,
    paid_at: at,
    expires_at,
    found_by: 'look',
  })
  return isNew ? 'new' : 'known'
}

/** Gifts, withdrawals and paid media are none. */
const isInvoice = ({ type, transaction_type = 'invoice_payment' }: Readonly<Record<string, unknown>>): boolean =>
  type === 'user' && transaction_type === 'invoice_payment'

async function hasPaidBefore(
  { db }: Looking,
  { org_id, id }: PayingBot,
  { telegram_user_id, payload, at }: { telegram_user_id: string; payload: string; at: string },
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from payments
    where org_id = ${org_id} and bot_id = ${id} and telegram_user_id = ${telegram_user_id}
      and payload_hash = ${payloadHash(payload)} and paid_at < ${at} limit 1`.execute(db)
  return rows.length > 0
}

/** Past their end for three days, in the list that was read since too, and neither renewed, cancelled nor given back. */
const ENDED = (among: Among) => `
  select p.org_id, p.bot_id, p.charge_id, p.telegram_user_id, p.payload_hash
  from payments p
  join bots b on b.org_id = p.org_id and b.id = p.bot_id
  join organizations o on o.org_id = p.org_id
  where p.expires_at between now() - interval '60 days' and now() - interval '3 days'
    and p.cancelled_at is null and p.refunded_at is null and p.telegram_user_id is not null
    and b.deleted_at is null and o.deleted_at is null and b.stars_looked_at > p.expires_at + interval '3 days'
    and not exists (
      select 1 from payments n
      where n.org_id = p.org_id and n.bot_id = p.bot_id and n.telegram_user_id = p.telegram_user_id
        and n.payload_hash = p.payload_hash and n.paid_at > p.paid_at)${among('p.org_id')}${among('b.org_id')}
  limit 100`

type Ended = { org_id: number; bot_id: string; charge_id: string; telegram_user_id: string; payload_hash: Buffer }

/** Cancels what has ended without a word, each once: by its payment's number. */
async function cancelEnded(looking: Looking): Promise<void> {
  const { rows } = await askEverywhere<Ended>(looking.database.worker, ENDED)
  for (const { org_id, bot_id, charge_id, telegram_user_id, payload_hash } of rows)
    await recordCancellation(
      looking,
      { org_id, id: bot_id },
      { telegram_user_id, payload_hash, nonce: `ended ${charge_id}` },
    )
}

/** Looks until it is closed; any number of processes may. */
export function openPaymentLooks(looking: Looking): Rounds {
  let next_ended = 0
  return openRounds(
    'payments/looks',
    POLL_MS,
    async signal => {
      const isRead = await lookAtDue(looking, signal)
      if (signal.aborted) return
      if (!isRead && Date.now() < next_ended) return
      await cancelEnded(looking)
      next_ended = Date.now() + AGAIN_MS / 60
    },
    error => looking.log.warn({ err: error }, 'lists of Stars could not be read; it is tried again'),
  )
}
