/** Checks of rules: what was judged is done, asked or waited for in one transaction with its row in the log. */
import type { Kysely } from 'kysely'
import { newId } from '../../contract/ids.ts'
import { msOfDatabase } from '../../contract/moments.ts'
import type { Window } from '../../contract/window.ts'
import { inOneTransaction } from '../../ground/db/one-transaction.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type HistoryObject, lockHistory } from '../../ground/history/record.ts'
import { codeOf } from '../own-acts/calls.ts'
import { type Acting, doActs, historyOfValue, letInAgain, withHistory } from './acts.ts'
import type { RuleAct, RuleCheck } from './api.ts'
import { lastDue, nextDue, windowAt } from './clock.ts'
import type { JudgedObject } from './figures.ts'
import { type Checking, judgeRule, type Met } from './judging.ts'
import { checksOf, describeCheck, storeCheck } from './log.ts'
import type { ReachedCampaign } from './reach.ts'
import { askedCheck, requireRule, type RuleRow } from './stored.ts'
import { tellAsked, tellMet, tellOver } from './telling.ts'

/** `due_ms`: the due time that is checked; undefined for a check that a person asked for. */
type CheckTime = { readonly now_ms: number; readonly due_ms?: number }
type Begun = {
  readonly trx: Kysely<Tables>
  readonly checking: Checking
  readonly window: Window
  readonly time: CheckTime
}

/**
 * Checks a rule. Undefined if the due time was checked before, or the rule has changed meanwhile. Refuses what Explore refuses.
 * @throws the error of the database; nothing was done then
 */
export async function checkRule(checking: Checking, time: CheckTime): Promise<RuleCheck | undefined> {
  const { ground, rule, place } = checking
  const { definition } = rule
  const window = windowAt(definition.window, lastDue(definition, place.zone, time.now_ms))
  const judged = await judgeRule(checking, window, time.now_ms)
  const touched = 'waits_for' in judged ? [] : [...judged.acting, ...judged.returning]
  return await inOneTransaction(ground.db, async trx => {
    const now = await lockRule(trx, checking, touched)
    if (now.version !== rule.version || wasChecked(now, time)) return undefined
    const begun: Begun = { trx, checking: { ...checking, rule: now }, window, time }
    if ('waits_for' in judged) return await close(begun, { state: 'waited', reason: judged.waits_for, objects: [] })
    return await (judged.asks ? ask(begun, judged) : act(begun, judged))
  })
}

/** Locks the rule and the objects of its acts before anything else, and reads it again. Refuses `object_not_found`. */
export async function lockRule(
  trx: Parameters<typeof lockHistory>[0],
  { rule, place }: Pick<Checking, 'rule' | 'place'>,
  touched: readonly JudgedObject[],
): Promise<RuleRow> {
  await lockHistory(trx, place.org_id, [
    { kind: 'rule', id: rule.id },
    ...touched.map(({ campaign_id }): HistoryObject => ({ kind: 'campaign', id: campaign_id })),
    ...touched.filter(({ field }) => field !== null).map(historyOfValue),
  ])
  return await requireRule(trx, place.org_id, rule.id)
}

const wasChecked = ({ active, due_checked_at }: RuleRow, { due_ms }: CheckTime): boolean =>
  due_ms !== undefined && (!active || (due_checked_at !== null && msOfDatabase(due_checked_at) >= due_ms))

export const campaignNames = (campaigns: readonly ReachedCampaign[]) =>
  new Map(campaigns.map(({ id, name }) => [id, name]))

/** The acts that change something. */
export const actsOf = ({ definition }: RuleRow): RuleAct[] => definition.then.filter(({ type }) => type !== 'tell')

/** Tells, acts and lets in again. */
async function act(begun: Begun, { campaigns, met, acting, returning }: Met): Promise<RuleCheck> {
  const { trx, checking, time } = begun
  const { rule, place } = checking
  const { now_ms } = time
  const id = newId(now_ms)
  const doing: Acting = { ...checking, trx, check_id: id, act_id: newId(), now_ms }
  const telling = { trx, place, rule, now_ms, names: campaignNames(campaigns) }
  const told = await tellMet(telling, met)
  await tellOver(telling, met)
  const { done, failed } = await doActs(doing, actsOf(rule), acting)
  const objects = await withHistory(doing, [...told, ...done, ...(await letInAgain(doing, returning))])
  return await close(begun, { id, state: objects.length > 0 ? 'acted' : 'nothing', reason: failed ?? null, objects })
}

const NAMES = { leave_out: 'left_out', pause: 'paused', weights: 'weights', cap: 'cap', tell: 'told' } as const

/** Asks a person: once, until the check is confirmed or too old. */
async function ask(begun: Begun, { campaigns, acting }: Met): Promise<RuleCheck> {
  const { trx, checking, time } = begun
  const { rule, place } = checking
  const open = askedCheck(rule, time.now_ms)
  if (open !== undefined) {
    await storeState(begun, { state: 'asking' })
    return describeCheck(await checksOf(trx, place.org_id, rule.id).where('id', '=', open).executeTakeFirstOrThrow())
  }
  const [first] = actsOf(rule)
  const objects = acting.map(({ label: _, ...object }) => ({
    ...object,
    act: NAMES[first?.type ?? 'tell'],
    history_id: null,
  }))
  const check = await close(begun, { state: 'asked', reason: 'stop_line', objects })
  await tellAsked({ trx, place, rule, now_ms: time.now_ms, names: campaignNames(campaigns) }, check.id, objects)
  return check
}

type Result = Pick<RuleCheck, 'state' | 'reason' | 'objects'> & { readonly id?: string }

/** Writes the check into the log, unless it found nothing, and its state into the rule. */
async function close(
  begun: Begun,
  { id = newId(begun.time.now_ms), state, reason, objects }: Result,
): Promise<RuleCheck> {
  const { trx, checking, window, time } = begun
  const { rule, place } = checking
  const check: RuleCheck = {
    id,
    checked_at: new Date(time.now_ms).toISOString(),
    version: rule.version,
    window: { from: new Date(window.from).toISOString(), to: new Date(window.to + 1).toISOString() },
    state,
    reason,
    objects,
  }
  if (state !== 'nothing') await storeCheck(trx, place.org_id, rule.id, check)
  if (state === 'asked') await storeState(begun, { state: 'asking', asked_check_id: id, asked_at: check.checked_at })
  else if (state === 'waited') await storeState(begun, { state: 'waiting', waits_for: reason })
  else await storeState(begun, { state: reason === null ? 'watching' : 'failing', waits_for: reason })
  return check
}

type StoredState = {
  readonly state: RuleRow['state']
  readonly waits_for?: string | null
  readonly asked_check_id?: string
  readonly asked_at?: string
}

async function storeState({ trx, checking, time }: Begun, state: StoredState): Promise<void> {
  const { rule, place } = checking
  await trx
    .updateTable('rules')
    .set({ waits_for: null, ...state, ...dueAfter(checking, time) })
    .where('org_id', '=', place.org_id)
    .where('id', '=', rule.id)
    .execute()
}

/** What a rule's row says after a due time was checked. */
function dueAfter({ rule, place }: Checking, { due_ms, now_ms }: CheckTime) {
  if (due_ms === undefined) return {}
  return {
    due_checked_at: new Date(due_ms).toISOString(),
    next_check_at: new Date(nextDue(rule.definition, place.zone, now_ms)).toISOString(),
    zone: place.zone,
  }
}

/** Notes that a due check failed. */
export async function storeFailure(checking: Checking, time: CheckTime, error: unknown): Promise<void> {
  const trx = checking.ground.db
  const waits_for = codeOf(error) ?? 'internal_error'
  await storeState({ trx, checking, time, window: { from: 0, to: 0 } }, { state: 'failing', waits_for })
}
