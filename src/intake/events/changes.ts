/** Gathers the changes of a batch while it decides, and makes the statements that write them in one round trip. */

import { type Act, historyRows, insertHistory, type ObjectChange } from '../../ground/history/record.ts'
import { newId } from '../../contract/ids.ts'
import { highestRung, rungsGained } from '../../contract/ladder.ts'
import type { EventStatus } from '../../contract/revisions.ts'
import { ask, type FlightStatement } from '../../ground/db/flight.ts'
import { fromMillionths, toMillionths } from '../../money/billing/money.ts'
import type { ForeignMoney } from '../../money/rates/rate-of-day.ts'
import { ClickSheet, type ClickState } from '../counters/click-sheet.ts'
import { writeConversions } from '../counters/conversions.ts'
import { type Costs, type Counts, cellOf, costsOf, DeltaSheet, type Verdicts } from '../counters/deltas.ts'
import { CapCounts } from './caps.ts'
import type { ClaimedValue, Revision, ConversionSource } from './items.ts'
import type { KnownClick, StandingCounts, StoredEvent } from './organization-state.ts'
import type { People } from './people.ts'
import type { Forms } from './reads.ts'
import * as write from './writes.ts'

type NewEvent = StoredEvent & {
  person_id: string
  bot_id: string | null
  telegram_user_id: string | null
  source: ConversionSource
  /** Outside the books. */
  test: boolean
  /** Whether the report counts it already, or never: then the folder leaves it out. */
  counted: boolean
  claimed: ClaimedValue | null
}

type Delivery = {
  event: StoredEvent
  kind: 'postback' | 'ad_account'
  target_id: string
  /** The revision it reports; 0: the event as recorded. */
  seq: number
  state: 'pending' | 'held' | 'skipped'
  /** Why it is skipped. */
  reason: string | null
  /** Whether it is dropped if the outbox already has it. */
  mayBeThere: boolean
  /** For targets that are called once per person: the person. */
  person_id: string | null
}
type ClickBefore = Pick<KnownClick, 'stages' | 'tracked' | 'revenue' | 'bot_id' | 'standing' | 'conversions'>
type ChangedClick = { readonly org_id: number; readonly click: KnownClick; readonly before: ClickBefore }

type OrganizationRows = readonly { org_id: number }[]

type NewRevision = {
  org_id: number
  event_id: string
  seq: number
  status: EventStatus
  amount: string
  original_amount: string | null
  original_currency: string | null
  rate: string | null
  reason: string | null
  source: Revision['source']
  network_id: string | null
  actor: string | null
  /** True of an event outside the books: it is counted when it enters them. */
  counted: boolean
}
type NewHold = { org_id: number; event_id: string; click_id: string; seq: number; days: number }

/** Every row has its organization, whether or not its statement needs it. */
export class Changes {
  readonly events: (NewEvent & { org_id: number })[] = []
  readonly aliases: { org_id: number; id: string; event_id: string }[] = []
  readonly charges: { org_id: number; id: string; amount: string; person_id: string; event_id: string }[] = []
  readonly revisions: NewRevision[] = []
  readonly deliveries: (Delivery & { org_id: number })[] = []
  /** Status changes by people, for the history. */
  readonly byPeople: (ObjectChange & { readonly org_id: number; readonly act: Act })[] = []
  readonly caps = new CapCounts()
  readonly #people = new Map<number, People>()
  readonly #merged = new Map<StoredEvent, number>()
  readonly #confirmed = new Map<StoredEvent, { org_id: number; test: boolean }>()
  readonly #revised = new Map<string, { org_id: number; event_id: string }>()
  readonly #holds = new Map<string, NewHold>()
  /** By event: its payout in another currency, and whether a row may already be stored for it. */
  readonly #money = new Map<string, { org_id: number; money: ForeignMoney | undefined; isAgain: boolean }>()
  readonly #clicks = new Map<KnownClick, { org_id: number; before: ClickBefore }>()

  /** Adds the persons of an organization. */
  addOrganization(org_id: number, people: People): void {
    this.#people.set(org_id, people)
  }

  /** Saves the click's state; call it before each change of a click. */
  touch(org_id: number, click: KnownClick): void {
    if (this.#clicks.has(click)) return
    const { stages, tracked, revenue, bot_id, standing, conversions } = click
    this.#clicks.set(click, { org_id, before: { stages, tracked, revenue, bot_id, standing, conversions } })
  }

  /** Ends the hold of an event, and holds it again for `days`; null: no new hold. */
  hold({ org_id, event_id, click_id, seq }: Omit<NewHold, 'days'>, days: number | null): void {
    this.#revised.set(event_id, { org_id, event_id })
    if (days === null) this.#holds.delete(event_id)
    else this.#holds.set(event_id, { org_id, event_id, click_id, seq, days })
  }

  /** A start that got its first explicit payout or payload. A start of this batch is inserted with it anyway. */
  merge(org_id: number, event: StoredEvent): void {
    if (!this.events.some(added => added.id === event.id)) this.#merged.set(event, org_id)
  }

  /** A browser's report enters the books, unless it is on a test click. */
  confirm(org_id: number, event: StoredEvent, isTest: boolean): void {
    const added = this.events.find(({ id }) => id === event.id)
    if (added === undefined) this.#confirmed.set(event, { org_id, test: isTest })
    else Object.assign(added, { test: isTest, counted: false })
  }

  /** Sets the payout of an event in another currency; undefined if it is in dollars. `isAgain`: it had another payout before. */
  setMoney(org_id: number, event: StoredEvent, money: ForeignMoney | undefined, isAgain: boolean): void {
    if (money !== undefined || isAgain) this.#money.set(event.id, { org_id, money, isAgain })
  }

  /** The statements of the transaction at time `at`; none if nothing changed. */
  statements(org_ids: readonly number[], at: string): FlightStatement[] {
    const [only = 0] = org_ids
    const statements: FlightStatement[] = []
    const add = ({ one, many }: Forms, rows: OrganizationRows, ...same: string[]) => {
      if (rows.length === 0) return
      const json = JSON.stringify(rows)
      statements.push(org_ids.length === 1 ? ask(one, [json, ...same, only]) : ask(many, [json, ...same]))
    }
    const clicks = [...this.#clicks].flatMap(([click, { org_id, before }]) =>
      isChanged(click, before) ? { org_id, click, before } : [],
    )
    const people = [...this.#people]
    add(write.INSERT_EVENTS, this.events, at)
    const money = [...this.#money].map(([event_id, one]) => ({ event_id, ...one }))
    add(
      write.DELETE_EVENT_MONEY,
      money.flatMap(({ org_id, event_id, isAgain }) => (isAgain ? [{ org_id, event_id }] : [])),
    )
    add(
      write.INSERT_EVENT_MONEY,
      money.flatMap(({ org_id, event_id, money: of }) => (of === undefined ? [] : [{ org_id, event_id, ...of }])),
    )
    add(write.INSERT_ALIASES, this.aliases, at)
    add(write.INSERT_REVISIONS, this.revisions, at)
    // An event that is revised for the first time was never held.
    const again = this.revisions.filter(({ seq }) => seq > 1).map(({ event_id }) => event_id)
    add(
      write.DELETE_HOLDS,
      [...this.#revised.values()].filter(({ event_id }) => again.includes(event_id)),
    )
    add(write.INSERT_HOLDS, [...this.#holds.values()], at)
    add(
      write.UPDATE_EVENTS,
      [...this.#merged].map(([event, org_id]) => ({ ...event, org_id })),
    )
    add(
      write.CONFIRM_EVENTS,
      [...this.#confirmed].map(([event, of]) => ({ ...event, ...of })),
    )
    add(
      write.UPDATE_CLICKS,
      clicks.map(({ org_id, click }) => writtenClick(org_id, click)),
    )
    add(write.INSERT_PERSONS, peopleRows(people, 'created'), at)
    add(write.UPDATE_PERSONS, peopleRows(people, 'adopted'))
    add(write.INSERT_PERSON_KEYS, peopleRows(people, 'linked'))
    add(write.INSERT_CHARGES, this.charges, at)
    add(write.MOVE_BALANCES, totals(this.charges))
    add(write.COUNT_FOR_CAPS, this.caps.counted(at))
    add(write.CLOSE_CAPS, this.caps.filled(), at)
    add(write.INSERT_DELIVERIES, this.deliveries.filter(({ mayBeThere }) => !mayBeThere).map(writtenDelivery), at)
    add(write.INSERT_ONCE, this.deliveries.filter(({ mayBeThere }) => mayBeThere).map(writtenDelivery), at)
    for (const [org_id, changed] of Map.groupBy(this.byPeople, ({ org_id }) => org_id)) {
      const { text, values } = insertHistory(org_id, at, historyRows(changed, at))
      statements.push(ask(text, values))
    }
    for (const sheet of [sheetOf(clicks).statement(), changesOf(clicks).statement()])
      if (sheet !== undefined) statements.push(ask(sheet.text, sheet.values))
    return statements
  }
}

function peopleRows(people: [number, People][], kind: 'created' | 'adopted' | 'linked'): OrganizationRows {
  return people.flatMap(([org_id, these]) => these[kind].map(row => ({ ...row, org_id })))
}

/** The sum of the charges per organization. */
function totals(charges: Changes['charges']): { org_id: number; amount: string }[] {
  const sums = new Map<number, bigint>()
  for (const { org_id, amount } of charges) sums.set(org_id, (sums.get(org_id) ?? 0n) + toMillionths(amount))
  return [...sums].map(([org_id, sum]) => ({ org_id, amount: fromMillionths(sum) }))
}

/** Whether this change makes the click's cost count. */
const bringsCost = ({ tracked, cost_counts }: KnownClick): boolean => tracked && cost_counts === false

function isChanged(click: KnownClick, before: ClickBefore): boolean {
  const isCountedSame = click.stages === before.stages && click.tracked === before.tracked && !bringsCost(click)
  const isWorthSame =
    click.revenue === before.revenue && click.standing === before.standing && click.conversions === before.conversions
  return !isCountedSame || !isWorthSame || click.bot_id !== before.bot_id
}

function writtenClick(org_id: number, click: KnownClick) {
  const { id, test, suppressed_delivery } = click
  const status = highestRung(click.stages)
  const state = stateOf(click, bringsCost(click) || click.cost_counts)
  return { org_id, id, status, test, suppressed_delivery, ...state }
}

/** The mutable columns of a click, as in its row. */
function stateOf(
  { stages, tracked, bot_id, revenue, standing, conversions }: ClickBefore,
  cost_counts: boolean | null,
): ClickState {
  return {
    stages,
    tracked,
    bot_id,
    revenue: revenue === null ? null : fromMillionths(revenue),
    cost_counts,
    approved: standing?.approved ?? null,
    pending: standing?.pending ?? null,
    rejected: standing?.rejected ?? null,
    revenue_pending: standing === null ? null : fromMillionths(standing.held),
    conversions: writeConversions(conversions),
  }
}

/** The state of each click before and after, tracked or not. */
function changesOf(clicks: readonly ChangedClick[]): ClickSheet {
  const sheet = new ClickSheet()
  for (const { org_id, click, before } of clicks) {
    const after = stateOf(click, bringsCost(click) || click.cost_counts)
    sheet.addChange(org_id, click.id, stateOf(before, click.cost_counts), after)
  }
  return sheet
}

function writtenDelivery({
  org_id,
  event,
  kind,
  target_id,
  seq,
  state,
  reason,
  person_id,
}: Delivery & { org_id: number }) {
  const { id: event_id, click_id, campaign_id } = event
  return { org_id, id: newId(), event_id, kind, target_id, seq, state, reason, click_id, campaign_id, person_id }
}

/** The changes of the report's counters: each tracked click after, minus the same click before if it was tracked. */
function sheetOf(clicks: readonly ChangedClick[]): DeltaSheet {
  const sheet = new DeltaSheet()
  for (const { org_id, click, before } of clicks) {
    if (click.tracked) sheet.add(org_id, cellOf(click), difference(click, before))
  }
  return sheet
}

function difference(click: KnownClick, before: ClickBefore): Partial<Counts & Costs & Verdicts> {
  const revenue = (click.revenue ?? 0n) - (before.tracked ? (before.revenue ?? 0n) : 0n)
  const gained = rungsGained(before.tracked ? before.stages : 0, click.stages)
  const counts = gained.map(rung => [rung === 'clicked' ? 'clicks' : rung, 1] as const)
  return {
    ...Object.fromEntries(counts),
    revenue: fromMillionths(revenue),
    ...(bringsCost(click) ? costsOf(click) : {}),
    ...verdictsOf(click.standing, before.tracked ? before.standing : null),
  }
}

const NONE: StandingCounts = { approved: 0, pending: 0, rejected: 0, held: 0n }

function verdictsOf(after: StandingCounts | null, before: StandingCounts | null): Partial<Verdicts> {
  if (after === before) return {}
  const [now, then] = [after ?? NONE, before ?? NONE]
  return {
    approved: now.approved - then.approved,
    pending: now.pending - then.pending,
    rejected: now.rejected - then.rejected,
    revenue_pending: fromMillionths(now.held - then.held),
  }
}
