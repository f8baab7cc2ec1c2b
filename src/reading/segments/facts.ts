/**
 * Facts: the data of a click that Explore uses, without its id. A click that changes adds two rows: its old fact with the sign -1 and its new one with
 * +1. So every figure is a sum over signs. Two equal rows with opposite signs cancel, even if they come from different clicks.
 */
import { DAY_MS } from '../../contract/days.ts'
import { toUnits } from '../../contract/decimals.ts'
import { type LINK_DIMENSIONS, TEXT_DIMENSIONS } from '../../contract/explore-dimensions.ts'
import { timeOfId } from '../../contract/ids.ts'
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

/** The keyed hash of a visitor. */
export type VisitorHash = (visitor_id: string) => bigint

/** The hash of a click's visitor; null where the visitor is unknown. */
export const visitorHashIn = ({ visitor_id }: FixedClick, hash: VisitorHash): bigint | null =>
  visitor_id === null ? null : hash(visitor_id)

/** The fact of a click in a state; `visitor` is its visitor's hash. The columns are spelled out, because spreading objects takes three times as long. */
export function factOf(click: FixedClick, state: ClickState, visitor: bigint | null): Fact {
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
    visitor,
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
  // Only rows of the same millisecond can be equal, so the others need no key.
  const taken = new Set<number>()
  for (const { sign, ms } of rows) if (sign === -1) taken.add(ms)
  const left = rows.filter(({ ms }) => !taken.has(ms))
  for (const row of cancelled(rows.filter(({ ms }) => taken.has(ms)))) left.push(row)
  return inOrder(left)
}

/** Orders the rows themselves by time. */
export const inOrder = (rows: FactRow[]): FactRow[] => rows.sort((a, b) => a.ms - b.ms)

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
