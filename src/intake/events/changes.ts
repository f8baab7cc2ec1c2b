/** What a batch changes, gathered while it decides, and the statements that write it in one flight. */

import { newId } from '../../contract/ids.ts'
import { highestRung, rungsGained } from '../../contract/ladder.ts'
import type { EventStatus } from '../../contract/revisions.ts'
import { ask, type Question } from '../../ground/db/flight.ts'
import { fromMillionths, toMillionths } from '../../money/billing/money.ts'
import type { ForeignMoney } from '../../money/rates/rate-of-day.ts'
import { ClickSheet, type ClickState } from '../counters/click-sheet.ts'
import { writeConversions } from '../counters/conversions.ts'
import { type Costs, type Counts, cellOf, costsOf, DeltaSheet, type Verdicts } from '../counters/deltas.ts'
import { CapCounts } from './caps.ts'
import type { Revision, Source } from './items.ts'
import type { KnownClick, Standings, StoredEvent } from './known.ts'
import type { People } from './people.ts'
import type { Forms } from './reads.ts'
import * as write from './writes.ts'

type NewEvent = StoredEvent & {
  person_id: string
  bot_id: string | null
  telegram_user_id: string | null
  source: Source
  test: boolean
}

type Delivery = {
  event: StoredEvent
  kind: 'postback' | 'ad_account'
  target_id: string
  /** The revision it tells of; 0: the event as it was recorded. */
  seq: number
  state: 'pending' | 'held' | 'skipped'
  /** Why it is skipped. */
  reason: string | null
  /** Whether it is left out where the outbox has it already. */
  mayBeThere: boolean
  /** Where the target is called once per person: this one. */
  person_id: string | null
}
type Before = Pick<KnownClick, 'stages' | 'tracked' | 'revenue' | 'bot_id' | 'standing' | 'conversions'>
type Changed = { readonly org_id: number; readonly click: KnownClick; readonly before: Before }

type Rows = readonly { org_id: number }[]

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
}
type Hold = { org_id: number; event_id: string; click_id: string; seq: number; days: number }

/** Every row names its organization, whether or not its statement needs it. */
export class Changes {
  readonly events: (NewEvent & { org_id: number })[] = []
  readonly aliases: { org_id: number; id: string; event_id: string }[] = []
  readonly charges: { org_id: number; id: string; amount: string; person_id: string; event_id: string }[] = []
  readonly revisions: NewRevision[] = []
  readonly deliveries: (Delivery & { org_id: number })[] = []
  readonly caps = new CapCounts()
  readonly #people = new Map<number, People>()
  readonly #merged = new Map<StoredEvent, number>()
  readonly #revised = new Map<string, { org_id: number; event_id: string }>()
  readonly #holds = new Map<string, Hold>()
  /** By event: what its payout was in another currency, and whether something may be stored in its place. */
  readonly #money = new Map<string, { org_id: number; money: ForeignMoney | undefined; isAgain: boolean }>()
  readonly #clicks = new Map<KnownClick, { org_id: number; before: Before }>()

  /** Takes the persons of an organization along. */
  concern(org_id: number, people: People): void {
    this.#people.set(org_id, people)
  }

  /** Remembers how a click was; comes before each change of one. */
  touch(org_id: number, click: KnownClick): void {
    if (this.#clicks.has(click)) return
    const { stages, tracked, revenue, bot_id, standing, conversions } = click
    this.#clicks.set(click, { org_id, before: { stages, tracked, revenue, bot_id, standing, conversions } })
  }

  /** What was held of an event is over; for so many days it is held anew, or with null no more. */
  hold({ org_id, event_id, click_id, seq }: Omit<Hold, 'days'>, days: number | null): void {
    this.#revised.set(event_id, { org_id, event_id })
    if (days === null) this.#holds.delete(event_id)
    else this.#holds.set(event_id, { org_id, event_id, click_id, seq, days })
  }

  /** A start that got its first explicit payout, or a payload; one of this very batch is written with it anyway. */
  merge(org_id: number, event: StoredEvent): void {
    if (!this.events.some(added => added.id === event.id)) this.#merged.set(event, org_id)
  }

  /** What an event's payout was in another currency; undefined where it is in dollars. `isAgain` where it had another payout before. */
  pay(org_id: number, event: StoredEvent, money: ForeignMoney | undefined, isAgain: boolean): void {
    if (money !== undefined || isAgain) this.#money.set(event.id, { org_id, money, isAgain })
  }

  /** The statements of one transaction that happens at `at`; none when nothing is to be written. */
  statements(org_ids: readonly number[], at: string): Question[] {
    const [only = 0] = org_ids
    const statements: Question[] = []
    const add = ({ one, many }: Forms, rows: Rows, ...same: string[]) => {
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
    // What is revised for the first time was never held.
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
      write.UPDATE_CLICKS,
      clicks.map(({ org_id, click }) => writtenClick(org_id, click)),
    )
    add(write.INSERT_PERSONS, of(people, 'created'), at)
    add(write.UPDATE_PERSONS, of(people, 'adopted'))
    add(write.INSERT_PERSON_KEYS, of(people, 'linked'))
    add(write.INSERT_CHARGES, this.charges, at)
    add(write.MOVE_BALANCES, totals(this.charges))
    add(write.COUNT_FOR_CAPS, this.caps.counted(at))
    add(write.CLOSE_CAPS, this.caps.filled(), at)
    add(write.INSERT_DELIVERIES, this.deliveries.filter(({ mayBeThere }) => !mayBeThere).map(writtenDelivery), at)
    add(write.INSERT_ONCE, this.deliveries.filter(({ mayBeThere }) => mayBeThere).map(writtenDelivery), at)
    for (const sheet of [sheetOf(clicks).statement(), changesOf(clicks).statement()])
      if (sheet !== undefined) statements.push(ask(sheet.text, sheet.values))
    return statements
  }
}

function of(people: [number, People][], kind: 'created' | 'adopted' | 'linked'): Rows {
  return people.flatMap(([org_id, these]) => these[kind].map(row => ({ ...row, org_id })))
}

/** What the charges come to, per organization. */
function totals(charges: Changes['charges']): { org_id: number; amount: string }[] {
  const sums = new Map<number, bigint>()
  for (const { org_id, amount } of charges) sums.set(org_id, (sums.get(org_id) ?? 0n) + toMillionths(amount))
  return [...sums].map(([org_id, sum]) => ({ org_id, amount: fromMillionths(sum) }))
}

/** Whether a click's cost is to be counted with this change. */
const bringsCost = ({ tracked, cost_counts }: KnownClick): boolean => tracked && cost_counts === false

function isChanged(click: KnownClick, before: Before): boolean {
  const isCountedAlike = click.stages === before.stages && click.tracked === before.tracked && !bringsCost(click)
  const isWorthAlike =
    click.revenue === before.revenue && click.standing === before.standing && click.conversions === before.conversions
  return !isCountedAlike || !isWorthAlike || click.bot_id !== before.bot_id
}

function writtenClick(org_id: number, click: KnownClick) {
  const { id, test, suppressed_delivery } = click
  const status = highestRung(click.stages)
  const state = stateOf(click, bringsCost(click) || click.cost_counts)
  return { org_id, id, status, test, suppressed_delivery, ...state }
}

/** What of a click changes, as its row has it. */
function stateOf(
  { stages, tracked, bot_id, revenue, standing, conversions }: Before,
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

/** How each click was and how it is, tracked or not. */
function changesOf(clicks: readonly Changed[]): ClickSheet {
  const sheet = new ClickSheet()
  for (const { org_id, click, before } of clicks) {
    const is = stateOf(click, bringsCost(click) || click.cost_counts)
    sheet.addChange(org_id, click.id, stateOf(before, click.cost_counts), is)
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

/** The report's differences: each click after minus the same click before; untracked ones count nowhere. */
function sheetOf(clicks: readonly Changed[]): DeltaSheet {
  const sheet = new DeltaSheet()
  for (const { org_id, click, before } of clicks) {
    if (click.tracked) sheet.add(org_id, cellOf(click), difference(click, before))
  }
  return sheet
}

function difference(click: KnownClick, before: Before): Partial<Counts & Costs & Verdicts> {
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

const NONE: Standings = { approved: 0, pending: 0, rejected: 0, held: 0n }

function verdictsOf(after: Standings | null, before: Standings | null): Partial<Verdicts> {
  if (after === before) return {}
  const [now, then] = [after ?? NONE, before ?? NONE]
  return {
    approved: now.approved - then.approved,
    pending: now.pending - then.pending,
    rejected: now.rejected - then.rejected,
    revenue_pending: fromMillionths(now.held - then.held),
  }
}
