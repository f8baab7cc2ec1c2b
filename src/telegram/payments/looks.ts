/**
 * Finds payments and refunds that no update reported: reads a bot's list of Star transactions once a day. Also cancels subscriptions that ended without
 * renewal or cancellation, once a list read after the end shows that there is no renewal.
 */
import { sql } from 'kysely'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import { fieldsOf } from '../../contract/json.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import { openQuiet } from '../../ground/db/quiet.ts'
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

type StarsGround = Pick<Ground, 'db' | 'database' | 'config' | 'secrets' | 'log'> &
  Pick<PaymentRecording, 'conversions'>

const POLL_MS = 2000
const LEASE_MS = 10 * MINUTE_MS
const AGAIN_MS = HOUR_MS
const PAGE = 100
/** The update of a newer payment may still be on its way. */
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

/** Reads the lists that are due; returns whether any was read to its end. */
async function readDueLists(ground: StarsGround, signal: AbortSignal): Promise<boolean> {
  let isRead = false
  const { rows } = await askEverywhere<PayingBot & { token: Buffer }>(ground.database.worker, DUE)
  for (const { token, ...bot } of rows) {
    if (signal.aborted) break
    const before = await claimStarsRead(ground.db, bot, LEASE_MS)
    if (before === undefined) continue
    const read = await readList(ground, bot, ground.secrets.open(token), { before, signal })
    await recordStarsRead(ground.db, bot, read)
    isRead ||= read.isWhole
  }
  return isRead
}

/** The progress in a list: `seen` entries are read, `isWhole` says whether these are all, and the next read is due in `next_ms`. */
type ListProgress = { readonly seen: number; readonly isWhole: boolean; readonly next_ms: number }

/**
 * Reads a list from where the last read ended, with an overlap of one page, because Telegram documents that the oldest entries come first. If the newest
 * come first after all, reads from the front until a page holds nothing new. A read that ended early continues from there next time.
 */
async function readList(
  ground: StarsGround,
  bot: PayingBot,
  token: string,
  { before, signal }: { before: number; signal: AbortSignal },
): Promise<ListProgress> {
  let offset = 0
  let seen = before
  let early: number | undefined
  const unfinished = (next_ms: number): ListProgress => ({
    seen: Math.min(seen, early ?? seen),
    isWhole: false,
    next_ms,
  })
  const whole = (end: number): ListProgress => {
    const next_ms = early === undefined ? DAY_MS * (0.9 + Math.random() / 10) : SETTLED_MS
    return { seen: Math.min(end, early ?? end), isWhole: true, next_ms }
  }
  for (let page = 0; page < MOST_PAGES; page += 1) {
    if (signal.aborted) return unfinished(0)
    const answer = await callTelegram(ground.config.telegramApiRoot, token, 'getStarTransactions', {
      offset,
      limit: PAGE,
    })
    if (!answer.ok) return unfinished(Math.max(LEASE_MS, (answer.retry_after ?? 0) * 1000))
    const list = fieldsOf(answer.result)['transactions']
    const entries = Array.isArray(list) ? list.map(fieldsOf) : []
    const isRising = Number(entries.at(-1)?.['date'] ?? 0) >= Number(entries[0]?.['date'] ?? 0)
    let hasNew = false
    for (const [at, entry] of entries.entries()) {
      const result = await recordEntry(ground, bot, entry)
      hasNew ||= result === 'new'
      // If the newest come first, the next read begins at the front and finds the early entry again.
      if (result === 'early') early ??= isRising ? offset + at : Number.POSITIVE_INFINITY
    }
    const end = offset + entries.length
    if (entries.length < PAGE) return whole(end)
    if (!isRising && !hasNew && before > 0) return whole(before)
    offset = isRising ? Math.max(end, before - PAGE) : end
    if (isRising) seen = Math.max(before, offset)
  }
  return unfinished(0)
}

/** Records one entry. Returns `early` for one that is too new, which a later read records. */
async function recordEntry(
  ground: StarsGround,
  bot: PayingBot,
  entry: Readonly<Record<string, unknown>>,
): Promise<'new' | 'known' | 'early'> {
  const { id, amount, date, source, receiver } = entry
  const [from, to] = [fieldsOf(source), fieldsOf(receiver)]
  const at = telegramTime(date)
  if (typeof id !== 'string') return 'known'
  if (Date.parse(at) > Date.now() - SETTLED_MS) return 'early'
  if (isInvoice(to)) {
    await noteRefund(ground.db, bot, { charge_id: id, at })
    return 'known'
  }
  const telegram_user_id = personId(from['user'])
  if (!isInvoice(from) || telegram_user_id === undefined) return 'known'
  const { invoice_payload, subscription_period } = from
  const payload = typeof invoice_payload === 'string' ? invoice_payload : ''
  const isSubscription = typeof subscription_period === 'number' && subscription_period > 0
  const kind = !isSubscription
    ? 'one_off'
    : (await hasPaidBefore(ground, bot, { telegram_user_id, payload, at }))
      ? 'renewal'
      : 'first'
  const expires_at = isSubscription ? new Date(Date.parse(at) + subscription_period * 1000).toISOString() : null
  const isNew = await recordPayment(ground, bot, {
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

/** Whether an entry is an invoice, and not a gift, a withdrawal or paid media. */
const isInvoice = ({ type, transaction_type = 'invoice_payment' }: Readonly<Record<string, unknown>>): boolean =>
  type === 'user' && transaction_type === 'invoice_payment'

async function hasPaidBefore(
  { db }: StarsGround,
  { org_id, id }: PayingBot,
  { telegram_user_id, payload, at }: { telegram_user_id: string; payload: string; at: string },
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from payments
    where org_id = ${org_id} and bot_id = ${id} and telegram_user_id = ${telegram_user_id}
      and payload_hash = ${payloadHash(payload)} and paid_at < ${at} limit 1`.execute(db)
  return rows.length > 0
}

/** Subscriptions that ended three days ago and were neither renewed, cancelled nor refunded, by a list that was read after these three days. */
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

type EndedSubscription = {
  org_id: number
  bot_id: string
  charge_id: string
  telegram_user_id: string
  payload_hash: Buffer
}

/** Cancels these subscriptions, each once by its payment's id. */
async function cancelEnded(ground: StarsGround): Promise<void> {
  const { rows } = await askEverywhere<EndedSubscription>(ground.database.worker, ENDED)
  for (const { org_id, bot_id, charge_id, telegram_user_id, payload_hash } of rows)
    await recordCancellation(
      ground,
      { org_id, id: bot_id },
      { telegram_user_id, payload_hash, nonce: `ended ${charge_id}` },
    )
}

/** Reads lists until it is closed. Any number of processes may run it. */
export function openStarsReads(ground: StarsGround): Rounds {
  let next_ended = 0
  return openRounds(
    'payments/looks',
    POLL_MS,
    async signal => {
      const isRead = await readDueLists(ground, signal)
      if (signal.aborted) return
      if (!isRead && Date.now() < next_ended) return
      await cancelEnded(ground)
      next_ended = Date.now() + AGAIN_MS / 60
    },
    error => ground.log.warn({ err: error }, 'could not read lists of Star transactions; retrying'),
    openQuiet(
      ground.database.worker,
      among => `select min(stars_look_at) as at from bots where stars_look_at > now()${among('org_id')}`,
    ),
  )
}
