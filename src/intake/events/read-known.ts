/**
 * What a batch reads of its organizations before it decides, in one flight under the locks of their balance rows. That lock orders all
 * that changes clicks, persons and money of an organization, over all processes; nobody takes another one before it.
 */
import type pg from 'pg'
import { EVENT_TYPES } from '../../contract/event-types.ts'
import { boundsOf } from '../../contract/ids.ts'
import type { EventStatus } from '../../contract/revisions.ts'
import { ask, flight, type Question } from '../../ground/db/flight.ts'
import { discardStalePlans } from '../../ground/db/stale-plans.ts'
import type { Value } from '../../ground/db/statement.ts'
import { toMillionths } from '../../money/billing/money.ts'
import { readConversions } from '../counters/conversions.ts'
import { Booked } from './booked.ts'
import type { CapRow } from './caps.ts'
import type { Conversion, Item } from './items.ts'
import { type Balance, type Known, type KnownClick, type Present, type StoredEvent, startOf } from './known.ts'
import { personKey } from './person.ts'
import * as reads from './reads.ts'
import { knowTarget, type TargetRow } from './targets.ts'

/** A batch: what each of its organizations has gathered. */
export type Asked = ReadonlyMap<number, readonly Item[]>

type Of<Row> = Row & { org_id: number }
type PersonColumns = { key: string; person_id: string; telegram_user_id: string | null; is_charged: true | null }
type StandingColumns = { approved: number; pending: number; rejected: number; revenue_pending: string }
type ClickRow = Omit<KnownClick, 'revenue' | 'standing' | 'conversions'> & {
  revenue: string | null
  conversions: string | null
} & (StandingColumns | Record<keyof StandingColumns, null>) &
  (PersonColumns | Record<keyof PersonColumns, null>)
type RevisedColumns = { seq: number; status: EventStatus; amount: string; was_held: true | null }
type JudgedRow = StoredEvent & { person_id: string; is_withheld: true | null } & (
    | RevisedColumns
    | Record<keyof RevisedColumns, null>
  )
type RevisedRow = Omit<RevisedColumns, 'was_held'> & { event_id: string }
type AliasedRow = StoredEvent & { asked: string }
type ToldRow = { event_id: string; target_id: string }
type BotRow = { id: string; username_key: string }

/**
 * Begins the transaction, takes the locks and reads. Of several organizations those are left out whose lock someone else holds. `at` is
 * the moment, by the database's clock, at which all the locks were had; undefined where none was. What `also` sends on the same
 * connection travels along.
 */
export async function readKnown<T>(
  client: pg.PoolClient,
  asked: Asked,
  also: () => Promise<T> | undefined,
): Promise<{ known: Map<number, Known>; at: string | undefined; also: T | undefined }> {
  const clicks = keysOf(asked, item => item.click_id)
  const answer = flight(client, {
    plans: discardStalePlans(client),
    begin: ask('begin'),
    balances: ofOrganizations<Of<Balance & { at: string }>>(asked, reads.LOCK_BALANCES),
    clicks: ofKeys<Of<ClickRow>>(asked, reads.READ_CLICKS, clicks, boundsOf(clicks.keys)),
    ...questionsOf(asked),
  })
  const [read, other] = await together(answer, also())
  if (asked.size === 1 && read.balances.length === 0) throw new Error('the organization has no balance')
  const known = new Map(read.balances.map(({ org_id, at: _, ...balance }) => [org_id, unread(balance)]))
  for (const { org_id, ...event } of read.events) known.get(org_id)?.events.set(event.id, event)
  const onces = [...asked.values()].flat().map(item => ({ org_id: item.org_id, once: onceOf(item) }))
  const onceIds = new Map(onces.map(({ org_id, once }) => [`${org_id} ${once?.found_by}`, once?.id ?? '']))
  for (const { org_id, asked: key, ...event } of read.inChats)
    knowAliased(known.get(org_id), onceIds.get(`${org_id} ${key}`) ?? '', event)
  // Where there are several of old, the one that its identity was given to is meant.
  for (const { org_id, asked: id, ...event } of read.aliased) knowAliased(known.get(org_id), id, event)
  // Also of a click without events, so that one of this very batch is found on it.
  for (const item of [...asked.values()].flat())
    if (isJudging(item)) known.get(item.org_id)?.ofClick.set(item.click_id, [])
  for (const { org_id, ...judged } of read.judged) knowJudged(known.get(org_id), judged)
  for (const { org_id, event_id, target_id } of read.told) {
    const told = known.get(org_id)?.told
    told?.set(event_id, [...(told.get(event_id) ?? []), target_id])
  }
  for (const { org_id, ...target } of read.targets) knowTarget(known.get(org_id), target)
  for (const { org_id, ...cap } of read.caps) known.get(org_id)?.caps.push(cap)
  for (const { org_id, id, username_key } of read.bots) known.get(org_id)?.bots.set(id, id).set(username_key, id)
  for (const row of read.clicks) knowClick(known.get(row.org_id), row)
  for (const row of read.people) knowPerson(known.get(row.org_id), row)
  // They were taken one after the other.
  return { known, at: read.balances.at(-1)?.at, also: other }
}

function unread(balance: Balance): Known {
  return {
    balance,
    events: new Map(),
    aliased: new Map(),
    ofClick: new Map(),
    revised: new Map(),
    clicks: new Map(),
    people: new Map(),
    peopleById: new Map(),
    rules: [],
    accounts: [],
    told: new Map(),
    caps: [],
    bots: new Map(),
    rateOf: () => undefined,
    booked: new Booked(),
  }
}

/** Both, when both have settled: the connection must be idle again before an error is dealt with. */
async function together<A, B>(first: Promise<A>, second: Promise<B> | undefined): Promise<[A, B | undefined]> {
  await Promise.allSettled([first, second ?? first])
  return [await first, await second]
}

function questionsOf(asked: Asked) {
  const events = keysOf(asked, item => (item.kind === 'conversion' ? item.id : undefined))
  const starts = keysOf(asked, item => (item.kind === 'conversion' && item.type === 'bot_start' ? item.id : undefined))
  const people = keysOf(asked, item => {
    const id = item.kind === 'conversion' ? item.telegram_user_id : undefined
    return id === undefined ? undefined : personKey.telegram(id)
  })
  const judged = keysOf(asked, item => (isJudging(item) ? item.click_id : undefined))
  const aliased = keysOf(asked, aliasOf)
  const inChats = keysOf(asked, item => onceOf(item)?.found_by)
  const items = [...asked.values()].flat()
  const recorded = new Set(items.flatMap(item => (item.kind === 'conversion' ? [item.type] : [])))
  const [has, hasPeople, hasStarts, isJudged] = [events, people, starts, judged].map(({ keys }) => keys.length > 0)
  return {
    told: isJudged ? ofKeys<Of<ToldRow>>(asked, reads.READ_TOLD, judged) : undefined,
    judged: isJudged ? ofKeys<Of<JudgedRow>>(asked, reads.READ_JUDGED, judged) : undefined,
    events: has ? ofKeys<Of<StoredEvent>>(asked, reads.READ_EVENTS, events) : undefined,
    caps: has ? ofOrganizations<Of<CapRow>>(asked, reads.READ_CAPS) : undefined,
    // What is judged is of any type.
    targets:
      has || isJudged
        ? ofOrganizations<Of<TargetRow>>(asked, reads.READ_TARGETS, [isJudged ? [...EVENT_TYPES] : [...recorded]])
        : undefined,
    people: hasPeople ? ofKeys<Of<PersonColumns>>(asked, reads.READ_PEOPLE, people) : undefined,
    aliased: aliased.keys.length > 0 ? ofKeys<Of<AliasedRow>>(asked, reads.READ_ALIASED, aliased) : undefined,
    inChats: inChats.keys.length > 0 ? ofKeys<Of<AliasedRow>>(asked, reads.READ_IN_CHATS, inChats) : undefined,
    bots: hasStarts ? ofOrganizations<Of<BotRow>>(asked, reads.READ_BOTS) : undefined,
  }
}

const onceOf = (item: Item) => (item.kind === 'conversion' ? item.once : undefined)

/** What an item's event may be known by beside its own id. */
function aliasOf(item: Item): string | undefined {
  if (item.kind !== 'conversion') return undefined
  return item.once?.id ?? (item.type === 'bot_start' ? item.id : undefined)
}

/** Whether it may say something of a conversion that is recorded on its click. */
function isJudging(item: Item): boolean {
  return item.kind === 'revision' || (item.kind === 'conversion' && item.standing !== undefined)
}

type Keys = { orgs: number[]; keys: string[] }

/** Each key once per organization, with the organization beside it. */
function keysOf(asked: Asked, of: (item: Item) => string | undefined): Keys {
  const found: Keys = { orgs: [], keys: [] }
  for (const [org_id, items] of asked) {
    const keys = new Set(items.flatMap(item => of(item) ?? []))
    for (const key of keys) {
      found.orgs.push(org_id)
      found.keys.push(key)
    }
  }
  return found
}

function ofKeys<Row>(
  asked: Asked,
  { one, many }: reads.Forms,
  { orgs, keys }: Keys,
  more: Value[] = [],
): Question<Row> {
  const [org_id = 0] = asked.keys()
  return asked.size === 1 ? ask(one, [org_id, keys, ...more]) : ask(many, [orgs, keys, ...more])
}

function ofOrganizations<Row>(asked: Asked, { one, many }: reads.Forms, more: Value[] = []): Question<Row> {
  const [org_id = 0] = asked.keys()
  return asked.size === 1 ? ask(one, [org_id, ...more]) : ask(many, [[...asked.keys()], ...more])
}

/**
 * Adds the starts that the batch's requests turn out to be, once their bots are known: the rows that are there already, and the
 * clicks of those rows, whose revenue a first explicit payout moves.
 */
export async function readStarts(client: pg.PoolClient, asked: Asked, known: Map<number, Known>): Promise<void> {
  const idOf = (item: Item) => {
    const of = known.get(item.org_id)
    return item.kind === 'conversion' && of !== undefined ? startOf(item, of) : undefined
  }
  const eventOf = (item: Item) => known.get(item.org_id)?.events.get(idOf(item) ?? '')
  const starts = keysOf(asked, item => (eventOf(item) === undefined ? idOf(item) : undefined))
  if (starts.keys.length > 0) {
    const { events } = await flight(client, { events: ofKeys<Of<StoredEvent>>(asked, reads.READ_EVENTS, starts) })
    for (const { org_id, ...event } of events) known.get(org_id)?.events.set(event.id, event)
  }
  // Also of starts that the first flight has found: another report of theirs may stand on another click.
  const clicks = keysOf(asked, item => {
    const click_id = eventOf(item)?.click_id
    return click_id === undefined || known.get(item.org_id)?.clicks.has(click_id) ? undefined : click_id
  })
  const merged = keysOf(asked, item => {
    const event = eventOf(item)
    return event === undefined || event.id === (item as Conversion).id ? undefined : event.id
  })
  const hasClicks = clicks.keys.length > 0
  if (!hasClicks && merged.keys.length === 0) return
  const read = await flight(client, {
    clicks: hasClicks ? ofKeys<Of<ClickRow>>(asked, reads.READ_CLICKS, clicks, boundsOf(clicks.keys)) : undefined,
    revised: merged.keys.length > 0 ? ofKeys<Of<RevisedRow>>(asked, reads.READ_REVISED, merged) : undefined,
  })
  for (const row of read.clicks) knowClick(known.get(row.org_id), row)
  for (const row of read.revised)
    known.get(row.org_id)?.revised.set(row.event_id, presentOf({ ...row, was_held: null }))
}

function presentOf({ seq, status, amount, was_held }: RevisedColumns): Present {
  return { seq, status, amount: toMillionths(amount), was_held: was_held === true || status === 'pending' }
}

function knowJudged(known: Known | undefined, row: JudgedRow): void {
  const { seq, status, amount, was_held, is_withheld, ...read } = row
  const event: StoredEvent = known?.events.get(read.id) ?? read
  event.person_id = read.person_id
  event.is_withheld = is_withheld === true
  known?.events.set(event.id, event)
  known?.ofClick.get(event.click_id)?.push(event)
  if (seq !== null) known?.revised.set(event.id, presentOf({ seq, status, amount, was_held }))
}

function knowClick(known: Known | undefined, row: Of<ClickRow>): void {
  const revenue = row.revenue === null ? null : toMillionths(row.revenue)
  const { approved, pending, rejected } = row
  const standing = approved === null ? null : { approved, pending, rejected, held: toMillionths(row.revenue_pending) }
  known?.clicks.set(row.id, { ...row, revenue, standing, conversions: readConversions(row.conversions) })
  if (row.key !== null) knowPerson(known, row)
}

/** Keys of one person lead to one and the same object: what a batch does to them is seen by all its items. */
function knowPerson(
  known: Known | undefined,
  { key, person_id: id, telegram_user_id, is_charged }: PersonColumns,
): void {
  const person = known?.peopleById.get(id) ?? { id, telegram_user_id, is_charged: is_charged === true }
  known?.peopleById.set(id, person)
  known?.people.set(key, person)
}

/** Two requests that lead to one event must change one and the same. */
function knowAliased(known: Known | undefined, asked: string, event: StoredEvent): void {
  const kept = known?.events.get(event.id) ?? event
  known?.events.set(event.id, kept)
  known?.aliased.set(asked, kept)
}
