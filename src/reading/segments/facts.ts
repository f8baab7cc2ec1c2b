/**
 * Facts: the data of a click that Explore uses, without its id. A click that changes adds two rows: its old fact with the sign -1 and its new one with
 * +1. So every figure is a sum over signs. Two equal rows with opposite signs cancel, even if they come from different clicks.
 */
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { toUnits } from '../../contract/decimals.ts'
import { type LINK_DIMENSIONS, TEXT_DIMENSIONS } from '../../contract/explore-dimensions.ts'
import { timeOfId } from '../../contract/ids.ts'
import { CLICKED } from '../../contract/ladder.ts'
import { type ClickState, CLICK_STATE_FIELDS } from '../../intake/counters/click-sheet.ts'
import { CONVERSIONS_OF } from '../../intake/counters/conversions.ts'
import { toMillionths } from '../../money/billing/money.ts'

/**
 * The text columns. Ids are uuids; `path` is the click's path through its click flow. `way` is null for a redirect and `is_left_out` null for a visitor
 * without a left-out value, also in segments of earlier versions.
 */
export const TEXTS = [
  'campaign',
  'offer',
  'landing',
  'ad_account',
  'bot',
  ...TEXT_DIMENSIONS,
  'way',
  'is_left_out',
] as const
export type TextColumn = (typeof TEXTS)[number]

type Fact = { readonly [name in TextColumn]: string | null } & {
  /** Milliseconds within the UTC day of the click's id. */
  readonly ms: number
  /** The first 8 bytes of the visitor's keyed hash, as a signed number. */
  readonly visitor: bigint | null
  readonly is_new: boolean
  readonly tracked: boolean
  /** The stages that the click has reached, one bit each. */
  readonly stages: number
  /** Millionths of a US dollar. */
  readonly revenue: bigint | null
  /** Billionths of a US dollar; null if no cost counts. */
  readonly cost: bigint | null
  /** The click's cost counts, but could not be read. */
  readonly unread_cost: boolean
  readonly approved: number
  readonly pending: number
  readonly rejected: number
  /** Millionths of a US dollar. */
  readonly revenue_pending: bigint
  /** Conversions by type, in the form of `writeConversions`; null for none. */
  readonly conversions: string | null
}

/** A fact that is added (1) or taken out (-1). */
export type FactRow = Fact & { readonly sign: 1 | -1 }

/** The columns of a click that never change, as `FIXED` reads them. */
export type FixedClick = { readonly [name in Exclude<TextColumn, 'bot'>]: string | null } & {
  readonly id: string
  readonly visitor_id: string | null
  readonly visitor_is_new: boolean | null
  readonly cost: string | null
  /** Its campaign had a cost model. */
  readonly is_priced: boolean
}

/** SQL of the texts that are not columns of a click `c` by the same name. */
const COLUMN_OF: Partial<Record<TextColumn, string>> = {
  campaign: 'c.campaign_id',
  offer: 'c.offer_id',
  landing: 'c.landing_id',
  ad_account: 'c.ad_account_id',
  path: 'c.click_flow_node_path',
  is_left_out: `case when c.left_out is not null then 'true' end`,
}

/** The columns of a click `c` that never change, for a select. */
export const FIXED = [
  'c.id',
  ...TEXTS.filter(name => name !== 'bot').map(name => `${COLUMN_OF[name] ?? `c.${name}`} as ${name}`),
  'c.visitor_id, c.visitor_is_new, c.cost, c.cost_counts is not null as is_priced',
].join(', ')

/** The mutable columns of a click `c` of the organization in `$1`, for a select. */
export const STANDING = [
  ...CLICK_STATE_FIELDS.map(name => `c.${name}`),
  `${CONVERSIONS_OF('$1', 'c.id')} as conversions`,
].join(', ')

/** An entry of a sheet: the state of a click before and after a change; `was_stages` is null for a new click. */
export type SheetEntry = { readonly id: string } & ClickState & {
    readonly [name in keyof ClickState as `was_${name}`]: ClickState[name] | null
  }

/** SQL of the entries in the rows `from` of `click_sheet`. */
export const entriesOf = (from: string) => `
  select b as id, ${CLICK_STATE_FIELDS.map(name => `${OF_BORN[name] ?? NONE[name]} as ${name}, ${NONE[name]} as was_${name}`).join(', ')},
    null::text as conversions, null::text as was_conversions
  from ${from}, unnest(born) as b
  union all
  select b.id, ${CLICK_STATE_FIELDS.map(name => `${name === 'tracked' || name === 'bot_id' ? `b.${name}` : (OF_BORN[name] ?? NONE[name])}, ${NONE[name]}`).join(', ')}, null, null
  from ${from}, unnest(born_otherwise) as b
  union all
  select c.id, ${CLICK_STATE_FIELDS.map(name => `c.${name}${AS_TEXT[name] ?? ''}, c.was_${name}${AS_TEXT[name] ?? ''}`).join(', ')},
    c.conversions, c.was_conversions
  from ${from}, unnest(changes, conversions_were, conversions) as c (id, ${CLICK_STATE_FIELDS.map(name => `was_${name}, ${name}`).join(', ')}, was_conversions, conversions)`

const OF_BORN: Partial<Record<keyof ClickState, string>> = { stages: `${CLICKED}::smallint`, tracked: 'true' }
const NONE: Record<(typeof CLICK_STATE_FIELDS)[number], string> = {
  stages: 'null::smallint',
  tracked: 'null::boolean',
  bot_id: 'null::uuid',
  revenue: 'null::text',
  cost_counts: 'null::boolean',
  approved: 'null::integer',
  pending: 'null::integer',
  rejected: 'null::integer',
  revenue_pending: 'null::text',
}
/** Amounts are read as text, because JSON has no exact decimals. */
const AS_TEXT: Partial<Record<keyof ClickState, string>> = { revenue: '::text', revenue_pending: '::text' }

/** The keyed hash of a visitor. */
export type VisitorHash = (visitor_id: string) => bigint

/** The fact of a click in a state. The columns are spelled out, because spreading objects takes three times as long. */
export function factOf(click: FixedClick, state: ClickState, hash: VisitorHash): Fact {
  const isCosting = state.cost_counts === true
  return {
    ms: timeOfId(click.id) % DAY_MS,
    campaign: click.campaign,
    offer: click.offer,
    landing: click.landing,
    path: click.path,
    ad_account: click.ad_account,
    geo: click.geo,
    device: click.device,
    os: click.os,
    browser: click.browser,
    platform: click.platform,
    sub1: click.sub1,
    sub2: click.sub2,
    sub3: click.sub3,
    sub4: click.sub4,
    sub5: click.sub5,
    sub6: click.sub6,
    sub7: click.sub7,
    sub8: click.sub8,
    sub9: click.sub9,
    ref_id: click.ref_id,
    way: click.way,
    is_left_out: click.is_left_out,
    bot: state.bot_id,
    visitor: click.visitor_id === null ? null : hash(click.visitor_id),
    is_new: click.visitor_is_new === true,
    tracked: state.tracked,
    stages: state.stages,
    revenue: state.revenue === null ? null : toMillionths(state.revenue),
    cost: isCosting && click.cost !== null ? toUnits(click.cost, 9) : null,
    unread_cost: isCosting && click.cost === null,
    approved: state.approved ?? 0,
    pending: state.pending ?? 0,
    rejected: state.rejected ?? 0,
    revenue_pending: state.revenue_pending === null ? 0n : toMillionths(state.revenue_pending),
    conversions: state.conversions,
  }
}

/** The fact as a row with a sign. It changes the fact itself. */
export const signed = (fact: Fact, sign: 1 | -1): FactRow => Object.assign(fact, { sign })

/** The rows that an entry adds; `sign` -1 undoes the entry. */
export function factRowsOf(click: FixedClick, entry: SheetEntry, hash: VisitorHash, sign: 1 | -1 = 1): FactRow[] {
  if (entry.was_stages === null) {
    // The cost of a tracked click counts from the start if its campaign has a cost model.
    const born = { ...entry, cost_counts: click.is_priced && entry.tracked }
    return [signed(factOf(click, born, hash), sign)]
  }
  const was = {
    stages: entry.was_stages,
    tracked: entry.was_tracked === true,
    bot_id: entry.was_bot_id,
    revenue: entry.was_revenue,
    cost_counts: entry.was_cost_counts,
    approved: entry.was_approved,
    pending: entry.was_pending,
    rejected: entry.was_rejected,
    revenue_pending: entry.was_revenue_pending,
    conversions: entry.was_conversions,
  }
  return [signed(factOf(click, was, hash), sign === 1 ? -1 : 1), signed(factOf(click, entry, hash), sign)]
}

const OTHERS = [
  'ms',
  'visitor',
  'is_new',
  'tracked',
  'stages',
  'revenue',
  'cost',
  'unread_cost',
  'approved',
  'pending',
  'rejected',
  'revenue_pending',
  'conversions',
] as const satisfies readonly (keyof Fact)[]

/** A key that is equal only for equal facts. No text contains U+0000, and an empty text differs from a missing one. */
function factKey(fact: Fact): string {
  let key = ''
  for (const name of OTHERS) key += `${fact[name] ?? ''}\0`
  for (const name of TEXTS) {
    const text = fact[name]
    key += text === null ? '\0' : `=${text}\0`
  }
  return key
}

/** The columns that a fact may lose, besides its visitor, once its click is no longer kept. */
export type Losable = (typeof LINK_DIMENSIONS)[number]

/** The row without its visitor and without the columns `words`. A sub1 with booked spend (`spent`) stays. */
export function emptied(row: FactRow, words: readonly Losable[], spent?: ReadonlySet<string>): FactRow {
  const left = { ...row, visitor: null, ...Object.fromEntries(words.map(name => [name, null])) }
  return row.sub1 !== null && spent?.has(row.sub1) === true ? { ...left, sub1: row.sub1 } : left
}

/** The rows that remain after cancelling, ordered by time. */
export function net(rows: readonly FactRow[]): FactRow[] {
  return (rows.some(({ sign }) => sign === -1) ? cancelled(rows) : [...rows]).sort((a, b) => a.ms - b.ms)
}

function cancelled(rows: readonly FactRow[]): FactRow[] {
  const sums = new Map<string, { row: FactRow; sum: number }>()
  for (const row of rows) {
    const key = factKey(row)
    const sumOfFact = sums.get(key)
    if (sumOfFact === undefined) sums.set(key, { row, sum: row.sign })
    else sumOfFact.sum += row.sign
  }
  const left: FactRow[] = []
  for (const { row, sum } of sums.values()) {
    const isLike = Math.sign(sum) === row.sign
    const one: FactRow = isLike ? row : { ...row, sign: sum < 0 ? -1 : 1 }
    for (let count = Math.abs(sum); count > 0; count -= 1) left.push(one)
  }
  return left
}

/** The rows by the UTC day of their clicks. */
export class FactDays {
  readonly #days = new Map<string, FactRow[]>()

  add(id: string, rows: readonly FactRow[]): void {
    const day = dayOf(timeOfId(id))
    const of = this.#days.get(day)
    if (of === undefined) this.#days.set(day, [...rows])
    else of.push(...rows)
  }

  /** Each day that has rows left, net. */
  net(): { day: string; rows: FactRow[] }[] {
    return [...this.#days].map(([day, rows]) => ({ day, rows: net(rows) })).filter(({ rows }) => rows.length > 0)
  }
}
