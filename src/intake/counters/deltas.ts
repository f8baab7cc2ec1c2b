/**
 * The changes of the report's counters in one transaction, gathered in memory and appended to `counter_sheet` by one statement. (The previous version
 * appends to `report_sheet`.) The statement belongs to the transaction that changes the clicks: both are committed, or neither, so a report
 * always equals a recount.
 */
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { fromUnits, toUnits } from '../../contract/decimals.ts'
import { NIL_ID, newId, timeOfId } from '../../contract/ids.ts'
import { STAGES } from '../../contract/ladder.ts'
import { quotedField } from '../../ground/db/composites.ts'
import type { Statement } from '../../ground/db/statement.ts'

/** In place of a missing campaign or offer. */
export const NO_ID = NIL_ID

/**
 * Where a click is counted: the UTC day of its id, and its campaign, offer, geo and sub1 as stored. A missing id is `NO_ID`, a
 * missing text ''. If a click's offer or geo changes, it is subtracted from its old cell and added to the new one.
 */
export type Cell = {
  readonly day: string
  readonly campaign_id: string
  readonly offer_id: string
  readonly geo: string
  readonly sub1: string
  /** The half hour of the UTC day in which the click was made, 0 to 47. */
  readonly slot?: number
}

/** The columns of a click that say where it is counted. */
type CountedClick = { readonly [name in 'campaign_id' | 'offer_id' | 'geo' | 'sub1']: string | null } & {
  readonly id: string
}

/** The cell a click is counted in. */
export function cellOf({ id, campaign_id, offer_id, geo, sub1 }: CountedClick): Cell {
  const ms = timeOfId(id)
  return {
    day: dayOfClick(ms),
    slot: Math.floor((ms % DAY_MS) / SLOT_MS),
    campaign_id: campaign_id ?? NO_ID,
    offer_id: offer_id ?? NO_ID,
    geo: geo ?? '',
    sub1: sub1 ?? '',
  }
}

const SLOT_MS = DAY_MS / 48
let last = { first_ms: 0, day: dayOf(0) }

/** The UTC day, cached, because consecutive clicks nearly always have the same one. */
function dayOfClick(ms: number): string {
  if (ms < last.first_ms || ms >= last.first_ms + DAY_MS) last = { first_ms: ms - (ms % DAY_MS), day: dayOf(ms) }
  return last.day
}

/** The counters, by their column names. Revenue is a column beside them. */
export const COUNTERS = ['clicks', ...STAGES] as const
type Counter = (typeof COUNTERS)[number]

/** How many clicks reached each stage, and revenue as a decimal string; of a change, the differences. Untracked clicks are not counted. */
export type Counts = { readonly [name in Counter]: number } & { readonly revenue: string }

/**
 * Costs of clicks whose campaign has a cost model: a decimal string in US dollars, and how many clicks had no readable cost. Of a change,
 * the differences.
 */
export type Costs = { readonly cost: string; readonly unread_costs: number }

/** How many conversions have each status, and the amount on hold as a decimal string in US dollars. Of a change, the differences. */
export type Verdicts = {
  readonly approved: number
  readonly pending: number
  readonly rejected: number
  readonly revenue_pending: string
}
export const STATUS_COUNTERS = ['revenue_pending', 'approved', 'pending', 'rejected'] as const

/** The columns of a click that hold its cost. Clicks of a version without costs lack them. */
type Priced = { readonly cost?: string | null; readonly cost_counts?: boolean | null }

/** What a click adds to the costs once it counts; undefined if its campaign had no cost model. */
export function costsOf({ cost, cost_counts }: Priced): Partial<Costs> | undefined {
  if (cost_counts == null) return undefined
  return cost == null ? { unread_costs: 1 } : { cost }
}

type CellSum = {
  org_id: number
  cell: Cell
  counts: number[]
  revenue: bigint
  cost: bigint
  unread_costs: number
  revenue_pending: bigint
  /** Approved, pending, rejected. */
  verdicts: [number, number, number]
}

/** Payouts have 6 decimals, costs 9; the rest is room for amounts written to the database in other ways. */
const DECIMALS = 20

const INSERT = `insert into counter_sheet (org_id, id, changes) values ($1, $2::uuid, $3::report_change2[])`

/** For changes of several organizations. The database groups them, because arrays in an array would be escaped twice. */
const INSERT_EACH = `insert into counter_sheet (org_id, id, changes)
  select c.org_id, $1::uuid, array_agg(c) from unnest($2::report_change2[]) as c group by c.org_id`

/** Adds up the changes of one transaction, per organization and cell. */
export class DeltaSheet {
  readonly #sums = new Map<string, CellSum>()
  /** The organization of all sums; undefined if they are of several. */
  #org_id: number | undefined

  add(org_id: number, cell: Cell, change: Partial<Counts & Costs & Verdicts>): void {
    if (this.#sums.size === 0) this.#org_id = org_id
    else if (this.#org_id !== org_id) this.#org_id = undefined
    // sub1 is free text, so it comes last: no other field can contain the separator.
    const key = `${org_id} ${cell.day} ${cell.slot} ${cell.campaign_id} ${cell.offer_id} ${cell.geo} ${cell.sub1}`
    let sum = this.#sums.get(key)
    if (sum === undefined) {
      const money = { revenue: 0n, cost: 0n, revenue_pending: 0n }
      sum = { org_id, cell, counts: [0, 0, 0, 0, 0, 0, 0], ...money, unread_costs: 0, verdicts: [0, 0, 0] }
      this.#sums.set(key, sum)
    }
    for (let at = 0; at < COUNTERS.length; at += 1) {
      const count = change[COUNTERS[at] as Counter]
      if (count !== undefined) sum.counts[at] = (sum.counts[at] as number) + count
    }
    if (change.revenue !== undefined && change.revenue !== '0') sum.revenue += toUnits(change.revenue, DECIMALS)
    if (change.cost !== undefined && change.cost !== '0') sum.cost += toUnits(change.cost, DECIMALS)
    if (change.unread_costs !== undefined) sum.unread_costs += change.unread_costs
    if (change.revenue_pending !== undefined) sum.revenue_pending += toUnits(change.revenue_pending, DECIMALS)
    sum.verdicts[0] += change.approved ?? 0
    sum.verdicts[1] += change.pending ?? 0
    sum.verdicts[2] += change.rejected ?? 0
  }

  /** The statement that appends the sums, for the transaction that changes the clicks; undefined if nothing changed. */
  statement(): Statement | undefined {
    let changes = ''
    for (const sum of this.#sums.values()) {
      const numbers = numbersOf(sum)
      if (numbers === NO_NUMBERS) continue
      const { day, slot = '', campaign_id, offer_id, geo, sub1 } = sum.cell
      changes += `${changes === '' ? '' : ','}"(${sum.org_id},${day},${slot},${campaign_id},${offer_id},${quotedField(geo)},${quotedField(sub1)},${numbers})"`
    }
    if (changes === '') return undefined
    return this.#org_id === undefined
      ? { text: INSERT_EACH, values: [newId(), `{${changes}}`] }
      : { text: INSERT, values: [this.#org_id, newId(), `{${changes}}`] }
  }
}

/** The numbers of a `report_change2`. A zero is written as null, which costs the database least. */
function numbersOf({ counts, revenue, cost, unread_costs, revenue_pending, verdicts }: CellSum): string {
  let numbers = ''
  for (const count of counts) numbers += `${count === 0 ? '' : count},`
  numbers += `${money(revenue)},${money(cost)},${unread_costs === 0 ? '' : unread_costs},${money(revenue_pending)}`
  for (const count of verdicts) numbers += `,${count === 0 ? '' : count}`
  return numbers
}

const money = (units: bigint): string => (units === 0n ? '' : fromUnits(units, DECIMALS))
const NO_NUMBERS = ','.repeat(COUNTERS.length + 3 + STATUS_COUNTERS.length - 1)
