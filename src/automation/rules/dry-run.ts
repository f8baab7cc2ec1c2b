/** What a rule would have done, check by check, by what was known at each check. Pure. */
import { DAY_MS, HOUR_MS } from '../../contract/days.ts'
import { fromUnits } from '../../contract/decimals.ts'
import { toWireId } from '../../contract/ids.ts'
import { type Condition, RULE_FIGURES } from '../../contract/rules.ts'
import { dayBeginsIn, localDay } from '../../contract/time-zones.ts'
import { measuresOfSums } from '../../reading/explore/measures.ts'
import { passes, type Sums } from '../../reading/explore/sums.ts'
import { ONCE_MS } from './acts.ts'
import type { TriedRule } from './api.ts'
import { figuresOf, isFilled, type JudgedObject, keyOfObject } from './figures.ts'
import { comparesWithPayout } from './payouts.ts'
import type { RecordedChange } from './recorded.ts'
import type { Definition } from './stored.ts'

type Place = Omit<JudgedObject, 'figures'>
type TriedAct = TriedRule['acts'][number]
const SUMMED = ['clicks', 'without_cost', 'paid_clicks', 'conversions', 'approved', 'rejected'] as const
const AMOUNTS = ['cost', 'payouts', 'revenue'] as const
type Totals = Record<(typeof SUMMED)[number] | (typeof AMOUNTS)[number], bigint>

/** An object with its sums in the window of the current check, and the clicks, costs and revenue of each hour after all. */
type Tracked = Place & { readonly key: string; readonly sums: Totals; readonly hours: Map<number, Totals> }

const noTotals = (): Totals => Object.fromEntries([...SUMMED, ...AMOUNTS].map(name => [name, 0n])) as Totals

function add(totals: Totals, change: RecordedChange, sign: 1n | -1n): void {
  for (const name of SUMMED) totals[name] += sign * BigInt(change[name])
  for (const name of AMOUNTS) totals[name] += sign * BigInt(change[name])
}

/** Values that were left out by something else, and since when. */
export type LeftOutBefore = ReadonlyMap<string, number>

type Trial = {
  readonly rule: Definition
  readonly zone: string
  /** The due times, in order. */
  readonly times: readonly number[]
  readonly phase_ms: number
  readonly changes: readonly RecordedChange[]
  readonly leftOutBefore: LeftOutBefore
}

/** The acts of a rule at these times, and what became of the clicks that it would have left out. */
export function tryTimes(trial: Trial): Pick<TriedRule, 'acts' | 'saved' | 'lost'> {
  const { rule, phase_ms, times } = trial
  const objects = new Map<string, Tracked>()
  const campaigns = new Map<string, Map<number, Totals>>()
  const enters = new Map<number, [Tracked, RecordedChange, 1n | -1n][]>()
  const { hours, leave_out_newest_hours: newest } = rule.window
  const note = (at: number, object: Tracked, change: RecordedChange, sign: 1n | -1n) => {
    const list = enters.get(at) ?? []
    list.push([object, change, sign])
    enters.set(at, list)
  }
  for (const change of trial.changes) {
    const object = trackedOf(objects, rule, change)
    add(inHour(object.hours, change.hour), change, 1n)
    const all = campaigns.get(change.campaign_id) ?? new Map<number, Totals>()
    campaigns.set(change.campaign_id, all)
    add(inHour(all, change.hour), change, 1n)
    const [first, end] = [Math.max(change.hour + newest, change.known) + 1, change.hour + newest + hours + 1]
    if (first >= end) continue
    note(first, object, change, 1n)
    note(end, object, change, -1n)
  }
  const run = openRun(trial, { objects, campaigns })
  let reached = Math.min(...enters.keys())
  for (const time of times) {
    const at = Math.round((time - phase_ms) / HOUR_MS)
    for (; reached <= at; reached += 1)
      for (const [object, change, sign] of enters.get(reached) ?? []) add(object.sums, change, sign)
    run.check(time, at)
  }
  return run.result()
}

function inHour(hours: Map<number, Totals>, hour: number): Totals {
  const known = hours.get(hour) ?? noTotals()
  hours.set(hour, known)
  return known
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

const COST_PLACES = 12
const OPS = { above: 'gt', below: 'lt' } as const

function meets(object: Tracked, when: readonly Condition[]): boolean {
  const sums = sumsOf(object)
  return when.every(condition => {
    if ('value' in condition)
      return passes(sums, { measure: condition.figure, op: OPS[condition.is], value: condition.value })
    const paid = { clicks: object.sums.paid_clicks, payouts: object.sums.payouts }
    return comparesWithPayout(fromUnits(object.sums.cost, COST_PLACES), condition, paid)
  })
}

function hasEnough(object: Tracked, { clicks, cost }: Definition['at_least']): boolean {
  const sums = sumsOf(object)
  return (
    object.sums.clicks > 0n &&
    (clicks === undefined || object.sums.clicks >= BigInt(clicks)) &&
    (cost === undefined || passes(sums, { measure: 'cost', op: 'gte', value: cost }))
  )
}

type Series = {
  readonly objects: ReadonlyMap<string, Tracked>
  readonly campaigns: ReadonlyMap<string, Map<number, Totals>>
}
type Out = { readonly object: Tracked; readonly hours: ReadonlyMap<number, Totals>; readonly since: number }
/** Told again when the loss is this many times as large. */
const GROWN = 1.5

function openRun({ rule, zone, leftOutBefore }: Trial, { objects, campaigns }: Series) {
  const acts: TriedAct[] = []
  const acted = new Map<string, number>()
  const out = new Map<string, Out>()
  const told = new Map<string, number>()
  const onProbation = new Map<string, Tracked>()
  let [saved, lost] = [0n, 0n]
  const all = [...objects.values()].toSorted((one, other) => (one.key < other.key ? -1 : 1))
  const judged = all.filter(({ field, value }) => field === null || isFilled(value))

  const settle = ({ hours, since }: Out, until: number) => {
    for (const [hour, totals] of hours) {
      if (hour < since || hour >= until) continue
      saved += totals.cost
      lost += totals.revenue
    }
  }
  const record = (time: number, object: Tracked, act: TriedAct['act']) => {
    const { campaign_id, field, value } = object
    const measures = measuresOfSums(sumsOf(object), { measures: RULE_FIGURES, count_pending: false })
    acts.push({ at: new Date(time).toISOString(), campaign_id, field, value, act, figures: figuresOf(measures) })
  }
  const campaignKey = ({ campaign_id }: Place) => keyOfObject({ campaign_id, field: null, value: null })
  const isFree = (key: string, time: number) => (acted.get(key) ?? Number.NEGATIVE_INFINITY) <= time - ONCE_MS
  const isLeftOut = ({ key }: Tracked, time: number) =>
    out.has(key) || (leftOutBefore.get(key) ?? Number.POSITIVE_INFINITY) <= time

  const isActable = (object: Tracked, time: number) =>
    rule.then.some(({ type }) => {
      if (type === 'leave_out') return isFree(object.key, time) && !isLeftOut(object, time)
      if (type === 'weights') return isFree(object.key, time)
      if (type === 'pause') return isFree(campaignKey(object), time) && !out.has(campaignKey(object))
      return type === 'cap' && isFree(campaignKey(object), time)
    })

  const isAboveLine = (acting: readonly Tracked[], time: number, at: number): boolean => {
    if (acting.length > rule.stop_line.objects) return true
    if (!rule.then.some(({ type }) => type === 'leave_out')) return false
    const today = dayBeginsIn(zone, localDay(zone, time))
    const yesterday = dayBeginsIn(zone, localDay(zone, today - 1))
    const [last, first] = [today, yesterday].map(ms => at - Math.ceil((time - ms) / HOUR_MS))
    const clicks = (hours: ReadonlyMap<number, Totals> | undefined) => {
      let sum = 0n
      for (let hour = first ?? at; hour < (last ?? at); hour += 1) sum += hours?.get(hour)?.clicks ?? 0n
      return Number(sum)
    }
    return [...Map.groupBy(acting, ({ campaign_id }) => campaign_id)].some(([campaign_id, own]) => {
      const leaving = own.reduce((sum, { hours }) => sum + clicks(hours), 0)
      return leaving * 100 > clicks(campaigns.get(campaign_id)) * rule.stop_line.clicks_percent
    })
  }

  const tellAll = (met: readonly Tracked[], time: number) => {
    for (const key of told.keys()) if (!met.some(object => object.key === key)) told.delete(key)
    for (const object of met) {
      const loss = Number(object.sums.cost / 1_000_000n - object.sums.revenue)
      const before = told.get(object.key)
      if (before !== undefined && (before <= 0 || loss < GROWN * before)) continue
      told.set(object.key, loss)
      record(time, object, 'told')
    }
  }

  const doAct = (
    type: Definition['then'][number]['type'],
    object: Tracked,
    { time, at }: { time: number; at: number },
  ) => {
    if (type === 'tell') return
    const key = type === 'pause' || type === 'cap' ? campaignKey(object) : object.key
    const isSameCheck = acted.get(key) === time
    if (!isFree(key, time) && !isSameCheck) return
    if (type === 'leave_out' && isLeftOut(object, time)) return
    if (type === 'pause' && out.has(key)) return
    if (isSameCheck && type === 'cap' && object.field !== null) return
    acted.set(key, time)
    if (type === 'leave_out') out.set(key, { object, hours: object.hours, since: at })
    onProbation.delete(key)
    if (type === 'pause')
      out.set(key, {
        object: { ...object, field: null, value: null, key },
        hours: campaigns.get(object.campaign_id) ?? new Map(),
        since: at,
      })
    record(time, object, ({ leave_out: 'left_out', pause: 'paused', weights: 'weights', cap: 'cap' } as const)[type])
  }

  const letIn = (time: number, at: number) => {
    const { back } = rule
    if (back === null) return
    const wait_ms = 'after_days' in back ? back.after_days * DAY_MS : ONCE_MS
    for (const [key, object] of onProbation) {
      if ((acted.get(key) ?? 0) > time - wait_ms) continue
      onProbation.delete(key)
      acted.set(key, time)
      record(time, object, 'let_in')
    }
    for (const [key, entry] of out) {
      if ((acted.get(key) ?? 0) > time - wait_ms) continue
      const { object } = entry
      if ('when' in back && (object.sums.clicks <= 0n || !meets(object, back.when))) continue
      settle(entry, at)
      out.delete(key)
      if ('after_days' in back && back.share < 1 && object.field !== null) onProbation.set(key, object)
      acted.set(key, time)
      record(time, object, 'let_in')
    }
  }

  return {
    check(time: number, at: number) {
      const met = judged.filter(object => hasEnough(object, rule.at_least) && meets(object, rule.when))
      const acting = met.filter(object => isActable(object, time))
      // The rule asks a person then, and does nothing.
      if (acting.length > 0 && isAboveLine(acting, time, at)) return
      if (rule.then.some(({ type }) => type === 'tell')) tellAll(met, time)
      for (const { type } of rule.then) for (const object of acting) doAct(type, object, { time, at })
      letIn(time, at)
    },
    result() {
      for (const entry of out.values()) settle(entry, Number.POSITIVE_INFINITY)
      return { acts, saved: money(saved, COST_PLACES), lost: money(lost, 6) }
    },
  }
}

/** An amount with at least two decimals, and at most six. */
function money(units: bigint, places: number): string {
  const [whole = '0', decimals = ''] = fromUnits(units / 10n ** BigInt(places - 6), 6).split('.')
  return `${whole}.${decimals.padEnd(2, '0')}`
}
