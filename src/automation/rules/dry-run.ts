/** What a rule would have done, check by check, by what was known at each check. Pure. */
import { DAY_MS, HOUR_MS } from '../../contract/days.ts'
import { fromUnits } from '../../contract/decimals.ts'
import { dayBeginsIn, localDay } from '../../contract/time-zones.ts'
import { GROWN } from '../alerts/tell.ts'
import { ONCE_MS } from './acts.ts'
import type { RuleAct, TriedRule } from './api.ts'
import { isFilled, keyOfObject } from './figures.ts'
import type { RecordedChange } from './recorded.ts'
import {
  COST_PLACES,
  figuresNow,
  hasEnough,
  hourAt,
  type Hours,
  meetsAll,
  openSeries,
  type Series,
  type Tracked,
} from './series.ts'
import type { Definition } from './stored.ts'

type TriedAct = TriedRule['acts'][number]

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

/** An object that is left out or paused, the hours of its clicks, and since which hour. */
type Out = { readonly object: Tracked; readonly hours: Hours; readonly since: number }
/** The part of an object's visitors that are kept out, in ten-thousandths: all of them. */
const ALL_OUT = 10_000n

/** What the rule has done so far. */
type Run = Trial & {
  readonly series: Series
  readonly acts: TriedAct[]
  /** When each object was acted on last. */
  readonly acted: Map<string, number>
  readonly out: Map<string, Out>
  readonly onProbation: Map<string, Out>
  /** The loss of each object when it was told last. */
  readonly told: Map<string, number>
  saved: bigint
  lost: bigint
}
/** A check: its due time, and the number of its hour. */
type Moment = { readonly time: number; readonly hour: number }

/** The acts of a rule at these times, and what became of the clicks that it would have left out. */
export function tryTimes(trial: Trial): Pick<TriedRule, 'acts' | 'saved' | 'lost'> {
  const run: Run = {
    ...trial,
    series: openSeries(trial.rule, trial.changes),
    acts: [],
    acted: new Map(),
    out: new Map(),
    onProbation: new Map(),
    told: new Map(),
    saved: 0n,
    lost: 0n,
  }
  for (const time of trial.times) {
    const hour = hourAt(time, trial.phase_ms)
    run.series.advance(hour)
    checkAt(run, { time, hour })
  }
  for (const entry of run.out.values()) settle(run, entry, Number.POSITIVE_INFINITY)
  for (const key of run.onProbation.keys()) endProbation(run, key, Number.POSITIVE_INFINITY)
  return { acts: run.acts, saved: money(run.saved, COST_PLACES), lost: money(run.lost, MICROS) }
}

function checkAt(run: Run, moment: Moment): void {
  const { rule, series } = run
  const met = series.objects.filter(
    object =>
      (object.field === null || isFilled(object.value)) &&
      hasEnough(object, rule.at_least) &&
      meetsAll(object, rule.when),
  )
  const acting = met.filter(object => isActable(run, object, moment))
  // The rule asks a person then, and does nothing.
  if (acting.length > 0 && isAboveLine(run, acting, moment)) return
  if (rule.then.some(({ type }) => type === 'tell')) tellAll(run, met, moment)
  for (const { type } of rule.then) for (const object of acting) act(run, type, object, moment)
  letIn(run, moment)
}

const campaignKey = ({ campaign_id }: Tracked) => keyOfObject({ campaign_id, field: null, value: null })
const isFree = ({ acted }: Run, key: string, time: number): boolean =>
  (acted.get(key) ?? Number.NEGATIVE_INFINITY) <= time - ONCE_MS
const isLeftOut = ({ out, leftOutBefore }: Run, { key }: Tracked, time: number): boolean =>
  out.has(key) || (leftOutBefore.get(key) ?? Number.POSITIVE_INFINITY) <= time

function isActable(run: Run, object: Tracked, { time }: Moment): boolean {
  const ofCampaign = campaignKey(object)
  return run.rule.then.some(({ type }) => {
    if (type === 'leave_out') return isFree(run, object.key, time) && !isLeftOut(run, object, time)
    if (type === 'weights') return isFree(run, object.key, time)
    if (type === 'pause') return isFree(run, ofCampaign, time) && !run.out.has(ofCampaign)
    return type === 'cap' && isFree(run, ofCampaign, time)
  })
}

function isAboveLine({ rule, zone, series }: Run, acting: readonly Tracked[], { time, hour }: Moment): boolean {
  if (acting.length > rule.stop_line.objects) return true
  if (!rule.then.some(({ type }) => type === 'leave_out')) return false
  const today = dayBeginsIn(zone, localDay(zone, time))
  const yesterday = dayBeginsIn(zone, localDay(zone, today - 1))
  const hourOf = (ms: number) => hour - Math.ceil((time - ms) / HOUR_MS)
  const clicks = (hours: Hours | undefined): number => {
    let sum = 0n
    for (let at = hourOf(yesterday); at < hourOf(today); at += 1) sum += hours?.get(at)?.clicks ?? 0n
    return Number(sum)
  }
  return [...Map.groupBy(acting, ({ campaign_id }) => campaign_id)].some(([campaign_id, own]) => {
    const leaving = own.reduce((sum, { hours }) => sum + clicks(hours), 0)
    return leaving * 100 > clicks(series.campaigns.get(campaign_id)) * rule.stop_line.clicks_percent
  })
}

function record({ acts }: Run, { time }: Moment, object: Tracked, name: TriedAct['act']): void {
  const { campaign_id, field, value } = object
  acts.push({ at: new Date(time).toISOString(), campaign_id, field, value, act: name, figures: figuresNow(object) })
}

const MICROS = 6

function tellAll(run: Run, met: readonly Tracked[], moment: Moment): void {
  const keys = new Set(met.map(({ key }) => key))
  for (const key of run.told.keys()) if (!keys.has(key)) run.told.delete(key)
  for (const object of met) {
    const loss = Number(object.sums.cost / 10n ** BigInt(COST_PLACES - MICROS) - object.sums.revenue)
    const before = run.told.get(object.key)
    if (before !== undefined && (before <= 0 || loss < GROWN * before)) continue
    run.told.set(object.key, loss)
    record(run, moment, object, 'told')
  }
}

const NAMES = { leave_out: 'left_out', pause: 'paused', weights: 'weights', cap: 'cap' } as const

function act(run: Run, type: RuleAct['type'], object: Tracked, moment: Moment): void {
  if (type === 'tell') return
  const { time, hour } = moment
  const isOfCampaign = type === 'pause' || type === 'cap'
  const key = isOfCampaign ? campaignKey(object) : object.key
  const isOfThisCheck = run.acted.get(key) === time
  if (!isFree(run, key, time) && !isOfThisCheck) return
  if (type === 'leave_out' && isLeftOut(run, object, time)) return
  if (type === 'pause' && run.out.has(key)) return
  // A campaign is capped once in a check, whichever of its values fulfils the conditions.
  if (type === 'cap' && isOfThisCheck && object.field !== null) return
  run.acted.set(key, time)
  endProbation(run, key, hour)
  if (type === 'leave_out') run.out.set(key, { object, hours: object.hours, since: hour })
  if (type === 'pause') {
    const campaign = { ...object, field: null, value: null, key }
    run.out.set(key, {
      object: campaign,
      hours: run.series.campaigns.get(object.campaign_id) ?? new Map(),
      since: hour,
    })
  }
  record(run, moment, object, NAMES[type])
}

/** Lets objects come back: by the counter-conditions, or after some days, first a part of their visitors. */
function letIn(run: Run, moment: Moment): void {
  const { back } = run.rule
  if (back === null) return
  const wait_ms = 'after_days' in back ? back.after_days * DAY_MS : ONCE_MS
  const isTime = (key: string) => (run.acted.get(key) ?? 0) <= moment.time - wait_ms
  for (const [key, { object }] of run.onProbation) {
    if (!isTime(key)) continue
    endProbation(run, key, moment.hour)
    run.acted.set(key, moment.time)
    record(run, moment, object, 'let_in')
  }
  for (const [key, entry] of run.out) {
    const { object } = entry
    if (!isTime(key)) continue
    if ('when' in back && (object.sums.clicks <= 0n || !meetsAll(object, back.when))) continue
    settle(run, entry, moment.hour)
    run.out.delete(key)
    if ('after_days' in back && back.share < 1 && object.field !== null)
      run.onProbation.set(key, { ...entry, since: moment.hour })
    run.acted.set(key, moment.time)
    record(run, moment, object, 'let_in')
  }
}

/** Ends the probation of an object, if it is on one. The visitors who were not let in count as left out, in proportion. */
function endProbation(run: Run, key: string, until: number): void {
  const { back } = run.rule
  const entry = run.onProbation.get(key)
  if (entry === undefined || back === null || 'when' in back) return
  run.onProbation.delete(key)
  settle(run, entry, until, ALL_OUT - BigInt(Math.round(back.share * Number(ALL_OUT))))
}

/** Adds up the clicks that an object had while it, or a part of its visitors, was out. */
function settle(run: Run, { hours, since }: Out, until: number, part = ALL_OUT): void {
  for (const [hour, totals] of hours) {
    if (hour < since || hour >= until) continue
    run.saved += (totals.cost * part) / ALL_OUT
    run.lost += (totals.revenue * part) / ALL_OUT
  }
}

/** An amount with at least two decimals, and at most six. */
function money(units: bigint, places: number): string {
  const [whole = '0', decimals = ''] = fromUnits(units / 10n ** BigInt(places - MICROS), MICROS).split('.')
  return `${whole}.${decimals.padEnd(2, '0')}`
}
