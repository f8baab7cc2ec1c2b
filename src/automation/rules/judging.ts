/** What a rule finds: the objects that fulfil its conditions, those it acts on, those that come back, and whether it must wait or ask. Reads only. */
import { DAY_MS } from '../../contract/days.ts'
import { dayBeginsIn, localDay } from '../../contract/time-zones.ts'
import type { Window } from '../../contract/window.ts'
import type { Ground } from '../../ground/room.ts'
import { ONCE_MS } from './acts.ts'
import type { Tools, Workspace } from '../own-acts/calls.ts'
import {
  type Asked,
  type RuleAsking,
  clicksOf,
  figuresOf,
  type JudgedObject,
  judgeObjects,
  keyOfObject,
} from './figures.ts'
import { isActable, objectsOut, type OutObject, readStanding } from './objects.ts'
import { campaignsOver, isSpendTooCoarse, isSpendUnread, judgesSpend, type ReachedCampaign } from './reach.ts'
import type { RuleRow } from './stored.ts'

export type Checking = {
  readonly ground: Ground
  readonly tools: Tools
  readonly place: Workspace
  readonly rule: RuleRow
}

/** `share`: the part of its visitors that is let in. */
type Returning = JudgedObject & { readonly share: number }

export type Met = {
  readonly campaigns: readonly ReachedCampaign[]
  /** All that fulfil the conditions. */
  readonly met: readonly JudgedObject[]
  /** Those of them that the rule acts on. */
  readonly acting: readonly JudgedObject[]
  readonly returning: readonly Returning[]
  /** Whether a person must confirm the acts. */
  readonly asks: boolean
}
type Judged = { readonly waits_for: string } | Met

const NOTHING: Met = { campaigns: [], met: [], acting: [], returning: [], asks: false }

/** Refuses what Explore refuses. */
export async function judgeRule(
  { ground, tools, place, rule }: Checking,
  window: Window,
  now_ms: number,
): Promise<Judged> {
  const { db } = ground
  const { org_id, zone } = place
  const { over, value_of, when, at_least, then } = rule.definition
  const campaigns = await campaignsOver(db, org_id, over)
  if (campaigns.length === 0) return NOTHING
  if (await isSpendTooCoarse(db, org_id, rule.definition, campaigns)) return { waits_for: 'spend_by_day_only' }
  const needsSpend = judgesSpend(rule.definition)
  if (needsSpend && (await isSpendUnread(db, org_id, campaigns, window))) return { waits_for: 'spend_not_read' }
  const explore = tools.byName.get('explore')
  if (explore === undefined) throw new Error('explore is no endpoint')
  const asking: RuleAsking = { ground, org_id, explore }
  const asked = { campaigns: campaigns.map(({ id }) => id), window, zone, value_of }
  const { objects: met, isComplete } = await judgeObjects(asking, { ...asked, when, at_least })
  if (!isComplete) return { waits_for: 'days_incomplete' }
  const standing = await readStanding(db, { org_id, now_ms, rule }, campaigns, met)
  const acting = met.filter(object => isActable(then, object, standing, now_ms))
  const leaving = new Set(acting.map(keyOfObject))
  const out = objectsOut(rule, standing).filter(object => !leaving.has(keyOfObject(object)))
  const returning = await comingBack(asking, { rule, now_ms }, asked, out)
  const asks = acting.length > 0 && (await isAboveLine(asking, { rule, now_ms }, asked, acting))
  return { campaigns, met, acting, returning, asks }
}

type AskedPlace = Omit<Asked, 'when' | 'at_least' | 'values'>
type OfRule = { readonly rule: RuleRow; readonly now_ms: number }

/** The objects that come back: those that fulfil the counter-conditions, or whose days are over. */
async function comingBack(
  asking: RuleAsking,
  { rule, now_ms }: OfRule,
  asked: AskedPlace,
  out: readonly OutObject[],
): Promise<Returning[]> {
  const { back } = rule.definition
  if (back === null) return []
  const wait_ms = 'after_days' in back ? back.after_days * DAY_MS : ONCE_MS
  const ready = out.filter(({ acted_ms }) => acted_ms <= now_ms - wait_ms)
  const returning: Returning[] = []
  for (const [field, objects] of Map.groupBy(ready, object => object.field)) {
    const campaigns = [...new Set(objects.map(({ campaign_id }) => campaign_id))]
    const values = field === null ? {} : { values: [...new Set(objects.map(({ value }) => value ?? ''))] }
    const when = 'when' in back ? back.when : []
    const found = await judgeObjects(asking, { ...asked, campaigns, ...values, value_of: field, when })
    const judged = new Map(found.objects.map(object => [keyOfObject(object), object]))
    for (const { acted_ms: _, isOnProbation, ...object } of objects) {
      // The days of a probation follow those of the exclusion.
      const share = 'after_days' in back && !isOnProbation ? back.share : 1
      const known = judged.get(keyOfObject(object))
      if (known !== undefined) returning.push({ ...known, share })
      else if ('after_days' in back) returning.push({ ...object, figures: figuresOf({}), share })
    }
  }
  return returning
}

/** Whether the acts are above the stop line: too many objects, or too many of a campaign's clicks of yesterday would be left out. */
async function isAboveLine(
  asking: RuleAsking,
  { rule, now_ms }: OfRule,
  asked: AskedPlace,
  acting: readonly JudgedObject[],
): Promise<boolean> {
  const { then, stop_line } = rule.definition
  if (acting.length > stop_line.objects) return true
  if (!then.some(({ type }) => type === 'leave_out')) return false
  const { zone } = asked
  const today = dayBeginsIn(zone, localDay(zone, now_ms))
  const window = { from: dayBeginsIn(zone, localDay(zone, today - 1)), to: today - 1 }
  const campaigns = [...new Set(acting.map(({ campaign_id }) => campaign_id))]
  const values = [...new Set(acting.map(({ value }) => value ?? ''))]
  const all = await clicksOf(asking, { ...asked, campaigns, window, value_of: null })
  const each = await clicksOf(asking, { ...asked, campaigns, window, values })
  return campaigns.some(campaign_id => {
    const own = acting.filter(object => object.campaign_id === campaign_id)
    const leaving = own.reduce((sum, object) => sum + (each.get(keyOfObject(object)) ?? 0), 0)
    const clicks = all.get(keyOfObject({ campaign_id, field: null, value: null })) ?? 0
    return leaving * 100 > clicks * stop_line.clicks_percent
  })
}
