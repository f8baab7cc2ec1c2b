// The effects of the demo's conversions by the rules of intake: person, charge, payout. In the order they happened.

import type { EventType } from '../src/contract/event-types.ts'
import { eventId, inChatId, onceId, startId } from '../src/intake/events/identity.ts'
import { readConversion } from '../src/intake/events/intake.ts'
import { People } from '../src/intake/events/people.ts'
import { type CallRead, readCall } from '../src/intake/networks/read-call.ts'
import { fromMillionths, toMillionths } from '../src/money/billing/money.ts'
import { inDollars } from '../src/money/rates/exact.ts'
import { attributionOf, SIGNALS } from './channels.ts'
import { callOf, EURO_PAYOUT, type PlacedNetwork } from './network.ts'
import { BOT } from './objects.ts'
import type { Outbox } from './outbox.ts'
import { euroAt } from './rates.ts'
import type { DemoEvent } from './traffic.ts'
import { type DemoRevision, revisionsOf } from './verdicts.ts'

/** An offer's payout, and the types it is paid for. */
type OfferPayout = { payout: string; payout_types: readonly EventType[]; byNetwork?: true }

type BookTerms = {
  org_id: number
  offers: ReadonlyMap<string, OfferPayout>
  network: PlacedNetwork
  outbox: Pick<Outbox, 'put'>
  /** Decimal strings. The balance begins with the credit when the organization is founded. */
  price: string
  credit: string
  founded: number
  now: number
}

type Entry = {
  kind: 'charge' | 'top_up' | 'adjustment'
  amount: string
  person_id: string | null
  event_id: string | null
  note: string | null
  ms: number
}

/** Future rows, each with the time it was written. */
export type Books = {
  events: (Omit<ReturnType<typeof recordedEvent>, 'once'> & { person_id: string; ms: number })[]
  /** The network's later status changes. */
  revisions: DemoRevision[]
  persons: { id: string; telegram_user_id: string | null; ms: number }[]
  /** The identities of the requests that reported starts. */
  aliases: { id: string; event_id: string; ms: number }[]
  personKeys: { key: string; person_id: string }[]
  ledger: Entry[]
  balance: string
}

/** The top-up when the balance is low, in USD. */
const TOP_UP = '100'
const LOW = toMillionths('15')
/** Makes the books of all events, in the order they happened. */
export function keepBooks(events: readonly DemoEvent[], terms: BookTerms): Books {
  const books: Books = {
    events: [],
    revisions: [],
    persons: [],
    aliases: [],
    personKeys: [],
    ledger: [],
    balance: '0',
  }
  const people = new People(new Map())
  const met = new Map<string, number>()
  const joinedOnce = new Set<string>()
  const price = toMillionths(terms.price)
  let balance = toMillionths(terms.credit)
  const enter = (entry: Omit<Entry, 'person_id' | 'event_id'> & Partial<Entry>) =>
    books.ledger.push({ person_id: null, event_id: null, ...entry })
  if (balance !== 0n) enter({ kind: 'adjustment', amount: terms.credit, note: 'Welcome credit', ms: terms.founded })
  for (const event of events) {
    const row = recordedEvent(event, terms)
    // A person who joins again over another click has joined once.
    if (row.once !== undefined && joinedOnce.has(row.once)) continue
    if (row.once !== undefined) joinedOnce.add(row.once)
    const person = people.of({ ...event.click, ...UNREAD }, event.telegram_user_id)
    const request_id = row.once ?? eventId(row.click_id, row.type, event.nonce)
    if (row.id !== request_id) books.aliases.push({ id: request_id, event_id: row.id, ms: event.ms })
    const revisions = row.source === 'network' ? revisionsOf({ ...row, ms: event.ms }, terms.network.id, terms.now) : []
    books.revisions.push(...revisions)
    countOnClick(event.click, row.payout ?? '0', revisions.at(-1))
    const { once: _, ...stored } = row
    books.events.push({ ...stored, person_id: person.id, ms: event.ms })
    if (!met.has(person.id)) met.set(person.id, event.ms)
    if (!person.is_charged) {
      person.is_charged = true
      balance -= price
      enter({
        kind: 'charge',
        amount: fromMillionths(-price),
        person_id: person.id,
        event_id: row.id,
        note: null,
        ms: event.ms,
      })
    }
    if (balance < LOW) {
      balance += toMillionths(TOP_UP)
      enter({ kind: 'top_up', amount: TOP_UP, note: 'Card top-up', ms: event.ms })
    }
    terms.outbox.put({ ...row, person_id: person.id, click: event.click, ms: event.ms })
  }
  books.persons = people.created.map(({ id, telegram_user_id }) => ({ id, telegram_user_id, ms: met.get(id) ?? 0 }))
  books.personKeys = people.linked
  books.balance = fromMillionths(balance)
  return books
}

/** Counts a conversion on its click with its last status. */
function countOnClick(click: DemoEvent['click'], payout: string, last: DemoRevision | undefined): void {
  const { approved, pending, rejected, held } = click.standing
  const [status, amount] = [last?.status ?? 'approved', toMillionths(last?.amount ?? payout)]
  if (status === 'approved') click.revenue += amount
  click.standing = {
    approved: approved + (status === 'approved' && (last !== undefined || amount > 0n) ? 1 : 0),
    pending: pending + (status === 'pending' ? 1 : 0),
    rejected: rejected + (status === 'approved' || status === 'pending' ? 0 : 1),
    held: held + (status === 'pending' ? amount : 0n),
  }
}

/** Columns of a click that intake reads and the demo does not need. */
const UNREAD = {
  revenue: null,
  standing: null,
  conversions: new Map(),
  offer_payout: null,
  payout_types: null,
  payout_currency: null,
  traffic_source_id: null,
}

/** The conversion as intake reads it: from the network if it reports the offer's conversions, else from the advertiser. */
function readEvent(
  { click, type, nonce, payout, telegram_user_id }: DemoEvent,
  { org_id, network, offers }: BookTerms,
): CallRead {
  if (offers.get(click.offer_id ?? '')?.byNetwork === true) {
    const isPaid = offers.get(click.offer_id ?? '')?.payout_types.includes(type) === true
    const paid = isPaid ? EURO_PAYOUT : payout
    const fields = callOf({ click, type, nonce, payout: paid, ms: 0, telegram_user_id })
    const read = readCall(fields, network.reading, { org_id, network_id: network.id, arrived_at: 0 })
    if (read.kind === 'revision') throw new Error(`the demo's network judges where it should report: ${type}`)
    return read
  }
  const person = telegram_user_id === undefined ? {} : { telegram_user_id }
  const bot = type === 'bot_start' && click.bot_id !== null ? { bot_username: BOT.username } : {}
  const payload = { transaction: nonce, ...person, ...bot }
  const sender = {
    org_id,
    source: 'api',
    campaigns: null,
    key: undefined,
    idempotency_key: undefined,
    arrived_at: 0,
  } as const
  return readConversion({ clickId: click.id, type, payout, nonce, payload }, sender)
}

function recordedEvent(event: DemoEvent, terms: BookTerms) {
  const { click, type } = event
  const { id, source, nonce, payload, telegram_user_id, bot, foreign, ...read } = readEvent(event, terms)
  const rate = euroAt(terms.founded, event.ms)
  const payout = foreign === undefined ? read.payout : inDollars(foreign.amount, rate.usd_per_unit)
  const offer = terms.offers.get(click.offer_id ?? '')
  const inherited = offer?.payout_types.includes(type) ? offer.payout : null
  const started = bot === undefined || telegram_user_id === undefined ? null : click.bot_id
  return {
    id: started === null ? id : startId(terms.org_id, started, telegram_user_id ?? ''),
    click_id: click.id,
    campaign_id: click.campaign_id,
    offer_id: click.offer_id,
    type,
    payout: payout === undefined ? inherited : fromMillionths(toMillionths(payout)),
    payout_is_explicit: payout !== undefined,
    nonce,
    payload,
    telegram_user_id: telegram_user_id ?? null,
    bot_id: started,
    source,
    money: foreign === undefined ? null : { original_amount: foreign.amount, currency: foreign.currency, ...rate },
    once: undefined,
    ...(type === 'channel_join' && telegram_user_id !== undefined
      ? joinFields(event, terms.org_id, telegram_user_id)
      : {}),
  }
}

/** The bot, not a sender, reports a join, once per chat and person. */
function joinFields({ click: { id: click_id }, type }: DemoEvent, org_id: number, telegram_user_id: string) {
  const { chat_id, title: chat_title } = SIGNALS
  const place = { type: type as 'channel_join', chat_id, telegram_user_id }
  const payload: Readonly<Record<string, unknown>> = { chat_id, chat_title, attribution: attributionOf(click_id) }
  return {
    id: inChatId(click_id, place),
    source: 'service' as const,
    nonce: null,
    payload,
    once: onceId(org_id, place),
  }
}
