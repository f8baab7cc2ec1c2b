/**
 * Reads the state of a batch's organizations, in one round trip under the locks of their balance rows. That lock orders everything that
 * changes clicks, persons and money of an organization, across all processes; no transaction takes another lock before it.
 */
import type pg from 'pg'
import { EVENT_TYPES } from '../../contract/event-types.ts'
import { boundsOf } from '../../contract/ids.ts'
import type { EventStatus } from '../../contract/revisions.ts'
import { ask, flight, type FlightStatement } from '../../ground/db/flight.ts'
import { discardStalePlans } from '../../ground/db/stale-plans.ts'
import type { Value } from '../../ground/db/statement.ts'
import { toMillionths } from '../../money/billing/money.ts'
import { readConversions } from '../counters/conversions.ts'
import { BookedRates } from './booked-rates.ts'
import type { ConversionCap } from './caps.ts'
import type { Conversion, Item } from './items.ts'
import {
  type Balance,
  type OrganizationState,
  type KnownClick,
  type EventStanding,
  type StoredEvent,
  startOf,
} from './organization-state.ts'
import { personKey } from './person.ts'
import * as reads from './reads.ts'
import { addTarget, type TargetRow } from './targets.ts'

/** The items of a batch by organization. */
export type BatchItems = ReadonlyMap<number, readonly Item[]>

type WithOrg<Row> = Row & { org_id: number }
type PersonColumns = { key: string; person_id: string; telegram_user_id: string | null; is_charged: true | null }
type StandingColumns = { approved: number; pending: number; rejected: number; revenue_pending: string }
type ClickRow = Omit<KnownClick, 'revenue' | 'standing' | 'conversions'> & {
  revenue: string | null
  conversions: string | null
} & (StandingColumns | Record<keyof StandingColumns, null>) &
  (PersonColumns | Record<keyof PersonColumns, null>)
type RevisedColumns = { seq: number; status: EventStatus; amount: string; was_held: true | null }
type EventOfClickRow = StoredEvent & { person_id: string; is_withheld: true | null } & (
    | RevisedColumns
    | Record<keyof RevisedColumns, null>
  )
type RevisedRow = Omit<RevisedColumns, 'was_held'> & { event_id: string }
type AliasedRow = StoredEvent & { asked: string }
type DeliveredToRow = { event_id: string; target_id: string }
type BotRow = { id: string; username_key: string }

/**
 * Begins the transaction, takes the locks and reads. Of several organizations it leaves out those whose lock another transaction holds. `at` is
 * the time at which all locks were taken, by the database's clock; undefined if none was. The statements of `also` are sent on the same
 * connection in the same round trip.
 */
export async function readStates<T>(
  client: pg.PoolClient,
  batch: BatchItems,
  also: () => Promise<T> | undefined,
): Promise<{ states: Map<number, OrganizationState>; at: string | undefined; also: T | undefined }> {
  const clicks = keysOf(batch, item => item.click_id)
  const answer = flight(client, {
    plans: discardStalePlans(client),
    begin: ask('begin'),
    balances: ofOrganizations<WithOrg<Balance & { at: string }>>(batch, reads.LOCK_BALANCES),
    clicks: ofKeys<WithOrg<ClickRow>>(batch, reads.READ_CLICKS, clicks, boundsOf(clicks.keys)),
    ...questionsOf(batch),
  })
  const [read, other] = await bothSettled(answer, also())
  if (batch.size === 1 && read.balances.length === 0) throw new Error('the organization has no balance')
  const states = new Map(read.balances.map(({ org_id, at: _, ...balance }) => [org_id, emptyState(balance)]))
  for (const { org_id, ...event } of read.events) states.get(org_id)?.events.set(event.id, event)
  const onces = [...batch.values()].flat().map(item => ({ org_id: item.org_id, once: onceOf(item) }))
  const onceIds = new Map(onces.map(({ org_id, once }) => [`${org_id} ${once?.found_by}`, once?.id ?? '']))
  for (const { org_id, asked: key, ...event } of read.inChats)
    addAliased(states.get(org_id), onceIds.get(`${org_id} ${key}`) ?? '', event)
  // Older versions may have stored several: the one that has the alias counts.
  for (const { org_id, asked: id, ...event } of read.aliased) addAliased(states.get(org_id), id, event)
  // Also for a click without events, so that an event of this batch is found on it.
  for (const item of [...batch.values()].flat())
    if (mayRevise(item)) states.get(item.org_id)?.ofClick.set(item.click_id, [])
  for (const { org_id, ...event } of read.eventsOfClicks) addEventOfClick(states.get(org_id), event)
  for (const { org_id, ...row } of read.deliveredTo) addDelivered(states.get(org_id), row)
  for (const { org_id, ...target } of read.targets) addTarget(states.get(org_id), target)
  for (const { org_id, ...cap } of read.caps) states.get(org_id)?.caps.push(cap)
  for (const { org_id, id, username_key } of read.bots) states.get(org_id)?.bots.set(id, id).set(username_key, id)
  for (const row of read.clicks) addClick(states.get(row.org_id), row)
  for (const row of read.people) addPerson(states.get(row.org_id), row)
  // The locks were taken one after the other, so the last time counts.
  return { states, at: read.balances.at(-1)?.at, also: other }
}

function emptyState(balance: Balance): OrganizationState {
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
    deliveredTo: new Map(),
    caps: [],
    bots: new Map(),
    rateOf: () => undefined,
    booked: new BookedRates(),
  }
}

/** Waits for both, also if one fails: the connection must be idle before an error is handled. */
async function bothSettled<A, B>(first: Promise<A>, second: Promise<B> | undefined): Promise<[A, B | undefined]> {
  await Promise.allSettled([first, second ?? first])
  return [await first, await second]
}

function questionsOf(batch: BatchItems) {
  const events = keysOf(batch, item => (item.kind === 'conversion' ? item.id : undefined))
  const starts = keysOf(batch, item => (item.kind === 'conversion' && item.type === 'bot_start' ? item.id : undefined))
  const people = keysOf(batch, item => {
    const id = item.kind === 'conversion' ? item.telegram_user_id : undefined
    return id === undefined ? undefined : personKey.telegram(id)
  })
  const revisedClicks = keysOf(batch, item => (mayRevise(item) ? item.click_id : undefined))
  const aliased = keysOf(batch, aliasOf)
  const inChats = keysOf(batch, item => onceOf(item)?.found_by)
  const items = [...batch.values()].flat()
  const recorded = new Set(items.flatMap(item => (item.kind === 'conversion' ? [item.type] : [])))
  const [hasConversions, hasPeople, hasStarts, mayReviseAny] = [events, people, starts, revisedClicks].map(
    ({ keys }) => keys.length > 0,
  )
  return {
    deliveredTo: mayReviseAny
      ? ofKeys<WithOrg<DeliveredToRow>>(batch, reads.READ_DELIVERED_TO, revisedClicks)
      : undefined,
    eventsOfClicks: mayReviseAny
      ? ofKeys<WithOrg<EventOfClickRow>>(batch, reads.READ_EVENTS_OF_CLICKS, revisedClicks)
      : undefined,
    events: hasConversions ? ofKeys<WithOrg<StoredEvent>>(batch, reads.READ_EVENTS, events) : undefined,
    caps: hasConversions ? ofOrganizations<WithOrg<ConversionCap>>(batch, reads.READ_CAPS) : undefined,
    // A revised conversion may be of any type.
    targets:
      hasConversions || mayReviseAny
        ? ofOrganizations<WithOrg<TargetRow>>(batch, reads.READ_TARGETS, [
            mayReviseAny ? [...EVENT_TYPES] : [...recorded],
          ])
        : undefined,
    people: hasPeople ? ofKeys<WithOrg<PersonColumns>>(batch, reads.READ_PEOPLE, people) : undefined,
    aliased: aliased.keys.length > 0 ? ofKeys<WithOrg<AliasedRow>>(batch, reads.READ_ALIASED, aliased) : undefined,
    inChats: inChats.keys.length > 0 ? ofKeys<WithOrg<AliasedRow>>(batch, reads.READ_IN_CHATS, inChats) : undefined,
    bots: hasStarts ? ofOrganizations<WithOrg<BotRow>>(batch, reads.READ_BOTS) : undefined,
  }
}

const onceOf = (item: Item) => (item.kind === 'conversion' ? item.once : undefined)

/** The alias under which an item's event may be stored. */
function aliasOf(item: Item): string | undefined {
  if (item.kind !== 'conversion') return undefined
  return item.once?.id ?? (item.type === 'bot_start' ? item.id : undefined)
}

/** Whether the item may revise a conversion that is recorded on its click. */
function mayRevise(item: Item): boolean {
  return item.kind === 'revision' || (item.kind === 'conversion' && item.standing !== undefined)
}

type Keys = { orgs: number[]; keys: string[] }

/** Each key once per organization, with the organization beside it. */
function keysOf(batch: BatchItems, of: (item: Item) => string | undefined): Keys {
  const found: Keys = { orgs: [], keys: [] }
  for (const [org_id, items] of batch) {
    const keys = new Set(items.flatMap(item => of(item) ?? []))
    for (const key of keys) {
      found.orgs.push(org_id)
      found.keys.push(key)
    }
  }
  return found
}

function ofKeys<Row>(
  batch: BatchItems,
  { one, many }: reads.Forms,
  { orgs, keys }: Keys,
  more: Value[] = [],
): FlightStatement<Row> {
  const [org_id = 0] = batch.keys()
  return batch.size === 1 ? ask(one, [org_id, keys, ...more]) : ask(many, [orgs, keys, ...more])
}

function ofOrganizations<Row>(batch: BatchItems, { one, many }: reads.Forms, more: Value[] = []): FlightStatement<Row> {
  const [org_id = 0] = batch.keys()
  return batch.size === 1 ? ask(one, [org_id, ...more]) : ask(many, [[...batch.keys()], ...more])
}

/**
 * Adds the stored starts that the batch's requests are about, once their bots are known, and the clicks of those starts, whose revenue a first
 * explicit payout changes.
 */
export async function readStarts(
  client: pg.PoolClient,
  batch: BatchItems,
  states: Map<number, OrganizationState>,
): Promise<void> {
  const idOf = (item: Item) => {
    const of = states.get(item.org_id)
    return item.kind === 'conversion' && of !== undefined ? startOf(item, of) : undefined
  }
  const eventOf = (item: Item) => states.get(item.org_id)?.events.get(idOf(item) ?? '')
  const starts = keysOf(batch, item => (eventOf(item) === undefined ? idOf(item) : undefined))
  if (starts.keys.length > 0) {
    const { events } = await flight(client, { events: ofKeys<WithOrg<StoredEvent>>(batch, reads.READ_EVENTS, starts) })
    for (const { org_id, ...event } of events) states.get(org_id)?.events.set(event.id, event)
  }
  // Also for starts found before: another report of the same start may name another click.
  const clicks = keysOf(batch, item => {
    const click_id = eventOf(item)?.click_id
    return click_id === undefined || states.get(item.org_id)?.clicks.has(click_id) ? undefined : click_id
  })
  const merged = keysOf(batch, item => {
    const event = eventOf(item)
    return event === undefined || event.id === (item as Conversion).id ? undefined : event.id
  })
  const hasClicks = clicks.keys.length > 0
  if (!hasClicks && merged.keys.length === 0) return
  const read = await flight(client, {
    clicks: hasClicks ? ofKeys<WithOrg<ClickRow>>(batch, reads.READ_CLICKS, clicks, boundsOf(clicks.keys)) : undefined,
    revised: merged.keys.length > 0 ? ofKeys<WithOrg<RevisedRow>>(batch, reads.READ_REVISED, merged) : undefined,
  })
  for (const row of read.clicks) addClick(states.get(row.org_id), row)
  for (const row of read.revised)
    states.get(row.org_id)?.revised.set(row.event_id, standingOf({ ...row, was_held: null }))
}

/** Adds the events of clicks where a conversion of the batch is recorded already, and a browser reports it now or has reported it first. */
export async function readReported(
  client: pg.PoolClient,
  batch: BatchItems,
  states: Map<number, OrganizationState>,
): Promise<void> {
  const clicks = keysOf(batch, item => {
    const state = states.get(item.org_id)
    const event = item.kind === 'conversion' ? state?.events.get(item.id) : undefined
    if (event === undefined || state?.ofClick.has(event.click_id)) return undefined
    return event.source === 'browser' || (item as Conversion).source === 'browser' ? event.click_id : undefined
  })
  if (clicks.keys.length === 0) return
  const { events, deliveredTo } = await flight(client, {
    events: ofKeys<WithOrg<EventOfClickRow>>(batch, reads.READ_EVENTS_OF_CLICKS, clicks),
    deliveredTo: ofKeys<WithOrg<DeliveredToRow>>(batch, reads.READ_DELIVERED_TO, clicks),
  })
  for (const [at, org_id] of clicks.orgs.entries()) states.get(org_id)?.ofClick.set(clicks.keys[at] ?? '', [])
  for (const { org_id, ...event } of events) addEventOfClick(states.get(org_id), event)
  for (const { org_id, ...row } of deliveredTo) addDelivered(states.get(org_id), row)
}

function standingOf({ seq, status, amount, was_held }: RevisedColumns): EventStanding {
  return { seq, status, amount: toMillionths(amount), was_held: was_held === true || status === 'pending' }
}

function addEventOfClick(state: OrganizationState | undefined, row: EventOfClickRow): void {
  const { seq, status, amount, was_held, is_withheld, ...read } = row
  const event: StoredEvent = state?.events.get(read.id) ?? read
  event.person_id = read.person_id
  event.is_withheld = is_withheld === true
  state?.events.set(event.id, event)
  state?.ofClick.get(event.click_id)?.push(event)
  if (seq !== null) state?.revised.set(event.id, standingOf({ seq, status, amount, was_held }))
}

function addDelivered(state: OrganizationState | undefined, { event_id, target_id }: DeliveredToRow): void {
  state?.deliveredTo.set(event_id, [...(state.deliveredTo.get(event_id) ?? []), target_id])
}

function addClick(state: OrganizationState | undefined, row: WithOrg<ClickRow>): void {
  const revenue = row.revenue === null ? null : toMillionths(row.revenue)
  const { approved, pending, rejected } = row
  const standing = approved === null ? null : { approved, pending, rejected, held: toMillionths(row.revenue_pending) }
  state?.clicks.set(row.id, { ...row, revenue, standing, conversions: readConversions(row.conversions) })
  if (row.key !== null) addPerson(state, row)
}

/** All keys of a person lead to the same object, so that every item of the batch sees its changes. */
function addPerson(
  state: OrganizationState | undefined,
  { key, person_id: id, telegram_user_id, is_charged }: PersonColumns,
): void {
  const person = state?.peopleById.get(id) ?? { id, telegram_user_id, is_charged: is_charged === true }
  state?.peopleById.set(id, person)
  state?.people.set(key, person)
}

/** Two requests for one event must change the same object. */
function addAliased(state: OrganizationState | undefined, alias: string, event: StoredEvent): void {
  const shared = state?.events.get(event.id) ?? event
  state?.events.set(event.id, shared)
  state?.aliased.set(alias, shared)
}
