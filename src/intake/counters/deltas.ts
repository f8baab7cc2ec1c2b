/**
 * What a transaction changes in the report's counters, gathered in memory and appended to `report_sheet` by one statement.
 * The sheet belongs to the transaction that changes the clicks: both are committed, or neither, so a report always equals a recount.
 */
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { fromUnits, toUnits } from '../../contract/decimals.ts'
import { NIL_ID, newId, timeOfId } from '../../contract/ids.ts'
import { quotedField } from '../../ground/db/composites.ts'
import type { Statement } from '../../ground/db/statement.ts'

/** Stands for a missing campaign or offer. */
export const NO_ID = NIL_ID

/**
 * Where a click is counted: the UTC day of its id, and its own campaign, offer, geo and sub1 as stored. A missing id is `NO_ID`, a
 * missing text ''. A click whose offer or geo changes is taken from its old cell (negative counts) and added to the new one.
 */
export type Cell = {
  readonly day: string
  readonly campaign_id: string
  readonly offer_id: string
  readonly geo: string
  readonly sub1: string
}

/** A click as far as it says where it is counted. */
type Place = { readonly [name in 'campaign_id' | 'offer_id' | 'geo' | 'sub1']: string | null } & { readonly id: string }

/** The cell a click is counted in. */
export function cellOf({ id, campaign_id, offer_id, geo, sub1 }: Place): Cell {
  return {
    day: dayOfClick(id),
    campaign_id: campaign_id ?? NO_ID,
    offer_id: offer_id ?? NO_ID,
    geo: geo ?? '',
    sub1: sub1 ?? '',
  }
}

let last = { first_ms: 0, day: dayOf(0) }

/** Nearly always the day of the click before. */
function dayOfClick(id: string): string {
  const ms = timeOfId(id)
  if (ms < last.first_ms || ms >= last.first_ms + DAY_MS) last = { first_ms: ms - (ms % DAY_MS), day: dayOf(ms) }
  return last.day
}

/** What is counted, as its columns are called everywhere; the report has its revenue beside them. */
export const COUNTERS = ['clicks', 'landed', 'started', 'registered', 'lead', 'deposit', 'ftd'] as const
type Counter = (typeof COUNTERS)[number]

/** Clicks with each rung's stage, and revenue as a decimal string: of a change, the differences. Untracked clicks count nowhere. */
export type Counts = { readonly [name in Counter]: number } & { readonly revenue: string }

type Sum = { org_id: number; cell: Cell; counts: number[]; revenue: bigint }

/** Payouts keep 6 decimals; the rest is room for amounts that came into the database by another way. */
const DECIMALS = 20

/** One row per organization; the database groups them, because arrays within an array would be escaped twice over. */
const INSERT = `insert into report_sheet (org_id, id, changes)
  select c.org_id, $2::uuid, array_agg(c) from unnest($1::report_change[]) as c group by c.org_id`

/** Adds up the changes of one transaction, per organization and cell. */
export class DeltaSheet {
  readonly #sums = new Map<string, Sum>()

  add(org_id: number, cell: Cell, change: Partial<Counts>): void {
    // sub1 is free text, so it comes last: no other field can hold the separator.
    const key = `${org_id} ${cell.day} ${cell.campaign_id} ${cell.offer_id} ${cell.geo} ${cell.sub1}`
    let sum = this.#sums.get(key)
    if (sum === undefined) {
      sum = { org_id, cell, counts: [0, 0, 0, 0, 0, 0, 0], revenue: 0n }
      this.#sums.set(key, sum)
    }
    for (let at = 0; at < COUNTERS.length; at += 1) {
      const count = change[COUNTERS[at] as Counter]
      if (count !== undefined) sum.counts[at] = (sum.counts[at] as number) + count
    }
    if (change.revenue !== undefined && change.revenue !== '0') sum.revenue += toUnits(change.revenue, DECIMALS)
  }

  /** The statement that appends the sums, or undefined where nothing has changed. */
  statement(): Statement | undefined {
    let changes = ''
    for (const { org_id, cell, counts, revenue } of this.#sums.values()) {
      if (revenue === 0n && counts.every(count => count === 0)) continue
      const { day, campaign_id, offer_id, geo, sub1 } = cell
      changes += `${changes === '' ? '' : ','}"(${org_id},${day},${campaign_id},${offer_id},${quotedField(geo)},${quotedField(sub1)},${counts.join()},${fromUnits(revenue, DECIMALS)})"`
    }
    return changes === '' ? undefined : { text: INSERT, values: [`{${changes}}`, newId()] }
  }
}
