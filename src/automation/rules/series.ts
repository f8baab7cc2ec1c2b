/** Objects of a dry run with their sums in the window of a check, by what was known then. Pure. */
import { HOUR_MS } from '../../contract/days.ts'
import { fromUnits } from '../../contract/decimals.ts'
import { toWireId } from '../../contract/ids.ts'
import { type Condition, RULE_FIGURES } from '../../contract/rules.ts'
import { measuresOfSums } from '../../reading/explore/measures.ts'
import { passes, type Sums } from '../../reading/explore/sums.ts'
import type { RuleFigures } from './api.ts'
import { figuresOf, type JudgedObject, keyOfObject } from './figures.ts'
import { comparesWithPayout } from './payouts.ts'
import type { RecordedChange } from './recorded.ts'
import type { Definition } from './stored.ts'

type Place = Omit<JudgedObject, 'figures'>
const SUMMED = ['clicks', 'without_cost', 'paid_clicks', 'conversions', 'approved', 'rejected'] as const
const AMOUNTS = ['cost', 'payouts', 'revenue'] as const
type Totals = Record<(typeof SUMMED)[number] | (typeof AMOUNTS)[number], bigint>

type HourTotals = { clicks: bigint; cost: bigint; revenue: bigint }
export type Hours = ReadonlyMap<number, HourTotals>

/** An object with its sums in the window of the current check, and those of each hour's clicks after all. */
export type Tracked = Place & { readonly key: string; readonly sums: Totals; readonly hours: Map<number, HourTotals> }
type Change = readonly [Tracked, RecordedChange, 1n | -1n]

/** `campaigns`: the hours of all clicks of each campaign. */
export type Series = {
  readonly objects: readonly Tracked[]
  readonly campaigns: ReadonlyMap<string, Hours>
  /** Brings the sums to the window of the check at this hour. Hours must ascend. */
  advance(hour: number): void
}

const noTotals = (): Totals => Object.fromEntries([...SUMMED, ...AMOUNTS].map(name => [name, 0n])) as Totals

function add(totals: Totals, change: RecordedChange, sign: 1n | -1n): void {
  for (const name of SUMMED) totals[name] += sign * BigInt(change[name])
  for (const name of AMOUNTS) totals[name] += sign * BigInt(change[name])
}

/** A change counts from the first check that knows it and whose window has its hour, until its hour has left the window. */
export function openSeries(rule: Definition, changes: readonly RecordedChange[]): Series {
  const objects = new Map<string, Tracked>()
  const campaigns = new Map<string, Map<number, HourTotals>>()
  const moves = new Map<number, Change[]>()
  const { hours, leave_out_newest_hours: newest } = rule.window
  const note = (hour: number, change: Change) => {
    const list = moves.get(hour) ?? []
    moves.set(hour, list)
    list.push(change)
  }
  for (const change of changes) {
    const object = trackedOf(objects, rule, change)
    const all = campaigns.get(change.campaign_id) ?? new Map<number, HourTotals>()
    campaigns.set(change.campaign_id, all)
    for (const series of [object.hours, all]) addToHour(series, change)
    const [first, end] = [Math.max(change.hour + newest, change.known) + 1, change.hour + newest + hours + 1]
    if (first >= end) continue
    note(first, [object, change, 1n])
    note(end, [object, change, -1n])
  }
  let reached = [...moves.keys()].reduce((least, hour) => Math.min(least, hour), Number.POSITIVE_INFINITY)
  return {
    objects: [...objects.values()].toSorted((one, other) => (one.key < other.key ? -1 : 1)),
    campaigns,
    advance(hour) {
      for (; reached <= hour; reached += 1)
        for (const [object, change, sign] of moves.get(reached) ?? []) add(object.sums, change, sign)
    },
  }
}

function addToHour(hours: Map<number, HourTotals>, { hour, clicks, cost, revenue }: RecordedChange): void {
  const totals = hours.get(hour) ?? { clicks: 0n, cost: 0n, revenue: 0n }
  hours.set(hour, totals)
  totals.clicks += BigInt(clicks)
  totals.cost += BigInt(cost)
  totals.revenue += BigInt(revenue)
}

function trackedOf(
  objects: Map<string, Tracked>,
  { value_of }: Definition,
  { campaign_id, value }: RecordedChange,
): Tracked {
  const isObject = value !== null && (value_of === 'landing' || value_of === 'offer')
  const place: Place = { campaign_id, field: value_of, value: isObject ? toWireId(value) : value }
  const key = keyOfObject(place)
  const known = objects.get(key) ?? { ...place, key, sums: noTotals(), hours: new Map() }
  objects.set(key, known)
  return known
}

/** The sums in the form of Explore, so that figures and conditions are computed as there. */
const sumsOf = ({ sums }: Tracked): Sums =>
  ({ ...sums, clicks_without_cost: sums.without_cost, revenue_without_cost: 0n }) as unknown as Sums

export const COST_PLACES = 12
const OPS = { above: 'gt', below: 'lt' } as const

export function meetsAll(object: Tracked, when: readonly Condition[]): boolean {
  const sums = sumsOf(object)
  return when.every(condition => {
    if ('value' in condition)
      return passes(sums, { measure: condition.figure, op: OPS[condition.is], value: condition.value })
    const paid = { clicks: object.sums.paid_clicks, payouts: object.sums.payouts }
    return comparesWithPayout(fromUnits(object.sums.cost, COST_PLACES), condition, paid)
  })
}

export function hasEnough(object: Tracked, { clicks, cost }: Definition['at_least']): boolean {
  const sums = sumsOf(object)
  return (
    object.sums.clicks > 0n &&
    (clicks === undefined || object.sums.clicks >= BigInt(clicks)) &&
    (cost === undefined || passes(sums, { measure: 'cost', op: 'gte', value: cost }))
  )
}

/** The figures of the current window, in the form of the API. */
export const figuresNow = (object: Tracked): RuleFigures =>
  figuresOf(measuresOfSums(sumsOf(object), { measures: RULE_FIGURES, count_pending: false }))

/** The number of an hour since 1970, of hours that begin `phase_ms` after full ones. */
export const hourAt = (ms: number, phase_ms: number): number => Math.round((ms - phase_ms) / HOUR_MS)
