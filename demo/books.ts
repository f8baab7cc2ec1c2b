// What the conversions of the demo cause, by the rules of the product: who the person is, what is charged once, what it earns, whom it is
// delivered to. In the order they happened, as the intake would have met them.
import { fromMillionths, toMillionths } from '../src/billing/money.ts'
import { newId, toWireId } from '../src/contract/ids.ts'
import { eventId } from '../src/events/identity.ts'
import { People } from '../src/events/people.ts'
import { fillMacros } from '../src/postbacks/macros.ts'
import type { EventType } from '../src/contract/event-types.ts'
import { type Chance, chanceOf } from './chance.ts'
import type { DemoEvent } from './traffic.ts'

/** What an offer pays, and for which types. */
type Paying = { payout: string; payout_types: readonly EventType[] }
/** A rule as it stands in the organization. */
export type PlacedRule = { id: string; event_type: EventType; url: string; campaign_id: string | null }

type Terms = {
  seed: string
  offers: ReadonlyMap<string, Paying>
  rules: readonly PlacedRule[]
  /** Decimal strings; the balance begins with the credit, at the moment the organization was founded. */
  price: string
  credit: string
  founded: number
}

type Entry = {
  kind: 'charge' | 'top_up' | 'adjustment'
  amount: string
  person_id: string | null
  event_id: string | null
  note: string | null
  ms: number
}
type Attempt = { delivery_id: string; number: number; ms: number; url: string; status: number; answer: string }

/** Rows to be, each with the moment it was written. */
export type Books = {
  events: (ReturnType<typeof recorded> & { person_id: string; ms: number })[]
  persons: { id: string; telegram_user_id: string | null; ms: number }[]
  personKeys: { key: string; person_id: string }[]
  ledger: Entry[]
  deliveries: {
    id: string
    event_id: string
    target_id: string
    click_id: string
    campaign_id: string | null
    ms: number
    finished: number
    attempts: number
  }[]
  attempts: Attempt[]
  balance: string
}

/** What the organization adds when its balance gets low, in USD. */
const TOP_UP = '100'
const LOW = toMillionths('15')
/** How many of the calls met a receiver that was busy, and went through at the second try. */
const BUSY = 0.015
const RETRY_MS = 5000

/** Keeps the books over all events, which come in the order they happened. */
export function keepBooks(events: readonly DemoEvent[], terms: Terms): Books {
  const books: Books = {
    events: [],
    persons: [],
    personKeys: [],
    ledger: [],
    deliveries: [],
    attempts: [],
    balance: '0',
  }
  const chance = chanceOf(terms.seed, 'deliveries')
  const people = new People(new Map())
  const met = new Map<string, number>()
  const price = toMillionths(terms.price)
  let balance = toMillionths(terms.credit)
  const enter = (entry: Omit<Entry, 'person_id' | 'event_id'> & Partial<Entry>) =>
    books.ledger.push({ person_id: null, event_id: null, ...entry })
  if (balance !== 0n) enter({ kind: 'adjustment', amount: terms.credit, note: 'Welcome credit', ms: terms.founded })
  for (const event of events) {
    const person = people.of({ ...event.click, ...UNREAD }, event.telegram_user_id)
    const row = recorded(event, terms.offers.get(event.click.offer_id ?? ''))
    if (row.payout !== null) event.click.revenue += toMillionths(row.payout)
    books.events.push({ ...row, person_id: person.id, ms: event.ms })
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
    deliver(chance, event, row, terms.rules, books)
  }
  books.persons = people.created.map(({ id, telegram_user_id }) => ({ id, telegram_user_id, ms: met.get(id) ?? 0 }))
  books.personKeys = people.linked
  books.balance = fromMillionths(balance)
  return books
}

/** What the intake reads of a click besides, and nothing here depends on. */
const UNREAD = { revenue: null, offer_payout: null, payout_types: null }

function recorded({ click, type, nonce, payout, telegram_user_id }: DemoEvent, offer: Paying | undefined) {
  const inherited = offer?.payout_types.includes(type) ? offer.payout : null
  return {
    id: eventId(click.id, type, nonce),
    click_id: click.id,
    campaign_id: click.campaign_id,
    offer_id: click.offer_id,
    type,
    payout: payout === undefined ? inherited : fromMillionths(toMillionths(payout)),
    payout_is_explicit: payout !== undefined,
    nonce,
    payload: telegram_user_id === undefined ? { transaction: nonce } : { transaction: nonce, telegram_user_id },
    telegram_user_id: telegram_user_id ?? null,
  }
}

function deliver(
  chance: Chance,
  { click, ms }: DemoEvent,
  event: ReturnType<typeof recorded>,
  rules: readonly PlacedRule[],
  books: Books,
): void {
  for (const rule of rules) {
    const isMeant = rule.campaign_id === null || rule.campaign_id === click.campaign_id
    if (rule.event_type !== event.type || !isMeant) continue
    const url = fillMacros(rule.url, {
      ...click,
      event_type: event.type,
      event_id: toWireId(event.id),
      click_id: toWireId(click.id),
      campaign_id: click.campaign_id && toWireId(click.campaign_id),
      offer_id: click.offer_id && toWireId(click.offer_id),
      timestamp: String(Math.floor(ms / 1000)),
    })
    if (url === undefined) continue
    const id = newId(ms)
    const attempts = chance() < BUSY ? 2 : 1
    const begun = ms + 40 + Math.floor(chance() * 120)
    if (attempts === 2)
      books.attempts.push({ delivery_id: id, number: 1, ms: begun, url, status: 503, answer: 'Service Unavailable' })
    const last = begun + (attempts - 1) * RETRY_MS
    books.attempts.push({ delivery_id: id, number: attempts, ms: last, url, status: 200, answer: 'OK' })
    const { click_id, campaign_id } = event
    books.deliveries.push({
      id,
      event_id: event.id,
      target_id: rule.id,
      click_id,
      campaign_id,
      ms,
      finished: last + 180,
      attempts,
    })
  }
}
