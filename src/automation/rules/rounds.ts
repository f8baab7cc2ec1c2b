/**
 * Checks the rules that are due, within seconds of the full interval of the clock. Due times are those of the clock of the process. Times at which no
 * process was up are not made up for.
 */
import { msOfDatabase } from '../../contract/moments.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import { openQuiet } from '../../ground/db/quiet.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'
import { checkRule, storeFailure } from './check.ts'
import { dueNow, LATE_MS, nextDue } from './clock.ts'
import { codeOf, type Tools } from '../own-acts/calls.ts'
import { requireRule, type RuleRow } from './stored.ts'

const PAUSE_MS = 1000
/** How often the clock of the process is looked at. */
const CLOCK_MS = 500
/** Rules that are checked at the same time, while Explore answers their questions one after another. */
const MOST_AT_ONCE = 4

type DueRule = {
  readonly org_id: number
  readonly organization_id: string
  readonly id: string
  readonly zone: string
  readonly next_check_at: string | null
}

const living = (among: Among) => `
  from rules r join organizations o on o.org_id = r.org_id
  where r.active and o.deleted_at is null${among('r.org_id')}`
const DUE = (among: Among) => `
  select r.org_id, o.id as organization_id, r.id, coalesce(o.timezone, 'UTC') as zone, r.next_check_at ${living(among)}
    and (r.next_check_at <= $1 or r.zone <> coalesce(o.timezone, 'UTC'))`
const NEXT = (among: Among) => `select min(r.next_check_at) as at ${living(among)}`

export function openRuleRounds(ground: Ground, tools: Tools): Rounds {
  const pool = ground.database.worker
  const lanes = new Map<string, Promise<void>>()
  let began_ms = Date.now()
  let next_ms = Number.POSITIVE_INFINITY
  const round = async (signal: AbortSignal) => {
    const { rows } = await askEverywhere<DueRule>(pool, DUE, [new Date().toISOString()])
    const waiting = rows.filter(({ id }) => !lanes.has(id)).toSorted(() => Math.random() - 0.5)
    for (const due of waiting.slice(0, MOST_AT_ONCE - lanes.size)) if (!signal.aborted) lanes.set(due.id, check(due))
    const next = await askEverywhere<{ at: string | null }>(pool, NEXT)
    const times = next.rows.flatMap(({ at }) => (at === null ? [] : [msOfDatabase(at)]))
    // A rule that could not be checked is tried again after a second, and one that is being checked is looked at as often.
    next_ms = Math.max(Math.min(...times), Date.now() + PAUSE_MS)
  }
  const onError = (error: unknown) => ground.log.error({ err: error }, 'rules could not be checked; retrying')
  /** A check that takes long does not keep rules that become due meanwhile from being checked. */
  const check = (due: DueRule) =>
    checkDue(ground, tools, due, began_ms)
      .catch(onError)
      .finally(() => lanes.delete(due.id))
  const rounds = openRounds('rules/rounds', PAUSE_MS, round, onError, openQuiet(pool))
  const clock = setInterval(() => {
    const now_ms = Date.now()
    // A clock that was put back does not make past times missed.
    began_ms = Math.min(began_ms, now_ms)
    if (now_ms >= next_ms) rounds.wake()
  }, CLOCK_MS).unref()
  return {
    async close() {
      clearInterval(clock)
      await rounds.close()
      await Promise.all(lanes.values())
    },
  }
}

/** Checks one rule, if its due time has come and somebody was up then, and says when it is due next. */
async function checkDue(ground: Ground, tools: Tools, due: DueRule, began_ms: number): Promise<void> {
  const { org_id, organization_id, id, zone } = due
  const rule = await requireRule(ground.db, org_id, id).catch(() => undefined)
  if (rule === undefined || !rule.active) return
  const now_ms = Date.now()
  const planned_ms = rule.next_check_at === null ? now_ms : msOfDatabase(rule.next_check_at)
  const due_ms = dueNow(rule.definition, zone, { planned_ms, now_ms, began_ms })
  const checking = { ground, tools, place: { org_id, organization_id, zone }, rule }
  if (due_ms === undefined) return await plan(ground, org_id, rule, { zone, now_ms })
  const time = { now_ms, due_ms }
  try {
    await checkRule(checking, time)
  } catch (error) {
    const code = codeOf(error)
    // It may be over soon: Explore is busy, or the database broke a deadlock. Then the check is repeated.
    if ((code === undefined || code === 'explore_busy') && now_ms < due_ms + LATE_MS) return
    ground.log.warn({ err: error, org_id, rule_id: id }, 'a rule could not be checked')
    await storeFailure(checking, time, error)
  }
}

/** Stores when the rule is due next, without a check. */
async function plan(
  { db }: Ground,
  org_id: number,
  rule: RuleRow,
  { zone, now_ms }: { readonly zone: string; readonly now_ms: number },
): Promise<void> {
  await db
    .updateTable('rules')
    .set({ next_check_at: new Date(nextDue(rule.definition, zone, now_ms)).toISOString(), zone })
    .where('org_id', '=', org_id)
    .where('id', '=', rule.id)
    .where('version', '=', rule.version)
    .execute()
}
