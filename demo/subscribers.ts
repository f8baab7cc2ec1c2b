// The subscribers of the demo's bot: people who started it from a click, and some organic ones, a few of whom paid in Stars.
import type { Transaction } from 'kysely'
import { hash } from 'node:crypto'
import { DAY_MS } from '../src/contract/days.ts'
import { newId } from '../src/contract/ids.ts'
import type { Tables } from '../src/ground/db/tables.ts'
import { paidAmountOf, payoutOf, STARS } from '../src/telegram/payments/amounts.ts'
import type { Books } from './books.ts'
import { chanceOf, pick } from './chance.ts'

const RATE = '0.013'
/** Per hundred starts. */
const ALONE = 24
const WELCOME = {
  text: 'Hi {first_name|there}! Every morning: what moved, in <b>three lines</b>.\n\nTap below for your free week.',
  buttons: [
    [{ text: 'Start my free week', url: 'https://coinpulse.example/?c={click_id}' }],
    [{ text: 'Not interested', opt_out: true }],
  ],
}

type SubscriberSeed = { org_id: number; seed: string; now: number }
type Subscriber = Partial<Tables['subscribers']> & { telegram_user_id: string; bot_id: string; ms: number }

/** Inserts them, and the bot's welcome message. */
export async function insertSubscribers(
  trx: Transaction<Tables>,
  { org_id, seed, now }: SubscriberSeed,
  { events }: Books,
) {
  const chance = chanceOf(seed, 'subscribers')
  const starts = events.filter(({ type, bot_id }) => type === 'bot_start' && bot_id !== null)
  const [first] = starts
  if (first === undefined || first.bot_id === null) return
  const { bot_id } = first
  const people = new Map<string, Subscriber>()
  for (const { telegram_user_id, click_id, campaign_id, ms } of starts)
    if (telegram_user_id !== null) people.set(telegram_user_id, { telegram_user_id, bot_id, click_id, campaign_id, ms })
  for (let left = Math.ceil((people.size * ALONE) / 100); left > 0; left -= 1) {
    const telegram_user_id = String(Math.floor(5_000_000_000 + chance() * 1_900_000_000))
    people.set(telegram_user_id, { telegram_user_id, bot_id, ms: Math.floor(now - chance() * 50 * DAY_MS) })
  }
  const rows = [...people.values()].sort((a, b) => a.ms - b.ms).map(person => asRow(org_id, person, { chance, now }))
  await trx.insertInto('subscribers').values(rows).execute()
  const payments = rows.filter(({ click_id }) => click_id === null).flatMap(row => paymentsOf(row, { chance, now }))
  if (payments.length > 0) await trx.insertInto('payments').values(payments).execute()
  await trx
    .updateTable('bots')
    .set({ welcome: JSON.stringify(WELCOME), accept_payments: true, stars_rate: RATE })
    .where('org_id', '=', org_id)
    .where('id', '=', bot_id)
    .execute()
}

type DrawnAt = { chance: () => number; now: number }

function asRow(org_id: number, { ms, ...person }: Subscriber, { chance, now }: DrawnAt) {
  const state = pick(chance, [
    ['reachable', 81],
    ['blocked', 13],
    ['gone', 3],
    ['unreachable', 3],
  ] as const)
  const heard = Math.min(now, ms + chance() ** 2 * (now - ms))
  const isOut = state === 'reachable' && chance() < 0.07
  return {
    org_id,
    id: newId(Math.floor(ms)),
    ...person,
    click_id: person.click_id ?? null,
    campaign_id: person.campaign_id ?? null,
    click_at: person.click_id == null ? null : iso(ms),
    state,
    state_at: iso(heard),
    source: person.click_id == null && chance() < 0.3 ? 'message' : 'start',
    created_at: iso(ms),
    started_at: iso(ms),
    last_seen_at: iso(heard),
    language: pick(chance, [
      ['uk', 34],
      ['ru', 31],
      ['uz', 18],
      ['kk', 12],
      ['en', 5],
    ]),
    opted_out_at: isOut ? iso(heard) : null,
    opt_changed_at: iso(isOut ? heard : ms),
  }
}

/** Monthly or single payments; some were refunded. */
function paymentsOf(
  { org_id, bot_id, telegram_user_id, created_at }: ReturnType<typeof asRow>,
  { chance, now }: DrawnAt,
) {
  if (chance() > 0.5) return []
  const isMonthly = chance() < 0.6
  const total_amount = pick(chance, [
    [150, 5],
    [250, 3],
    [500, 1],
  ])
  const begun = Date.parse(created_at) + chance() * DAY_MS
  const payload_hash = hash('sha256', isMonthly ? 'monthly' : 'once', 'buffer')
  const months = isMonthly ? Math.max(1, Math.ceil((now - begun) / (30 * DAY_MS))) : 1
  return Array.from({ length: months }, (_, month) => {
    const paid = begun + month * 30 * DAY_MS
    return {
      org_id,
      bot_id,
      telegram_user_id,
      id: newId(Math.floor(Math.min(paid, now))),
      charge_id: `demo-${telegram_user_id}-${month}`,
      currency: STARS,
      total_amount: paidAmountOf(STARS, total_amount),
      payout: payoutOf(STARS, total_amount, RATE),
      kind: !isMonthly ? 'one_off' : month === 0 ? 'first' : 'renewal',
      payload_hash,
      paid_at: iso(Math.min(paid, now)),
      expires_at: isMonthly ? iso(paid + 30 * DAY_MS) : null,
      refunded_at: !isMonthly && chance() < 0.2 ? iso(Math.min(now, paid + DAY_MS)) : null,
      found_by: 'update',
    }
  })
}

const iso = (ms: number): string => new Date(ms).toISOString()
