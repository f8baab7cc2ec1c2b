/**
 * The acts of rules: each through the endpoint that a person would use, with its checks and its row in the history, as Sluice itself. An act first claims
 * its object in `rule_objects`: only if nothing has acted on it within 24 hours. An act that is refused leaves neither its write nor its claim.
 */
import { type Kysely, sql } from 'kysely'
import { DAY_MS } from '../../contract/days.ts'
import { toWireId } from '../../contract/ids.ts'
import { Refusal, refusalBody } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Act, HistoryObject } from '../../ground/history/record.ts'
import type { Ground } from '../../ground/room.ts'
import type { NamedCall } from '../../people/history/perform.ts'
import type { LeftOutField } from '../../traffic/left-out/fields.ts'
import { leftOutObject } from '../../traffic/left-out/history.ts'
import { setLetInShare } from '../../traffic/left-out/probation.ts'
import type { RuleAct, RuleCheck } from './api.ts'
import { type JudgedObject, keyOfObject } from './figures.ts'
import { callAsSluice, type Tools, type Workspace } from '../own-acts/calls.ts'
import type { RuleRow } from './stored.ts'
import { sharedFunnel } from './weights.ts'

/** A check that acts, in its transaction. */
export type Acting = {
  readonly trx: Kysely<Tables>
  readonly ground: Ground
  readonly tools: Tools
  readonly place: Workspace
  readonly rule: Pick<RuleRow, 'id' | 'name'>
  readonly check_id: string
  readonly act_id: string
  readonly now_ms: number
}

type ObjectAct = RuleCheck['objects'][number]['act']
/** `of` is the object of the history that the act changed. */
export type DoneAct = JudgedObject & { readonly act: ObjectAct; readonly of: HistoryObject | null }
type ActsDone = { readonly done: readonly DoneAct[]; readonly failed: string | undefined }

/** One object is acted on once in this time. */
export const ONCE_MS = DAY_MS

const actFor = ({ act_id, rule }: Acting): Act => ({
  act_id,
  actor: { kind: 'sluice', because: 'rule', rule_id: rule.id },
})

/** Calls an endpoint as Sluice itself, because of the rule. */
const call = (acting: Acting, named: NamedCall): Promise<unknown> => callAsSluice(acting, actFor(acting), named)

type Place = Pick<JudgedObject, 'campaign_id' | 'field' | 'value'>
const campaignOf = ({ campaign_id }: Place): Place => ({ campaign_id, field: null, value: null })

/** Claims objects for an act, and returns the keys of those that it may act on. */
async function claim(acting: Acting, objects: readonly Place[], act: ObjectAct): Promise<Set<string>> {
  if (objects.length === 0) return new Set()
  const { trx, place, rule, check_id, now_ms } = acting
  const rows = objects.map(({ campaign_id, field, value }) => ({
    org_id: place.org_id,
    campaign_id,
    field: field ?? '',
    value: value ?? '',
    rule_id: rule.id,
    check_id,
    act,
    acted_at: new Date(now_ms).toISOString(),
  }))
  const free = new Date(now_ms - ONCE_MS).toISOString()
  const claimed = await trx
    .insertInto('rule_objects')
    .values(rows)
    .onConflict(on =>
      on
        .columns(['org_id', 'campaign_id', 'field', 'value'])
        .doUpdateSet(of => ({
          rule_id: of.ref('excluded.rule_id'),
          check_id: of.ref('excluded.check_id'),
          act: of.ref('excluded.act'),
          acted_at: of.ref('excluded.acted_at'),
        }))
        .where(
          sql<boolean>`(rule_objects.acted_at <= ${free}::timestamptz or rule_objects.check_id = ${check_id}::uuid)`,
        ),
    )
    .returning(['campaign_id', 'field', 'value'])
    .execute()
  return new Set(claimed.map(row => keyOfObject(row as Place)))
}

/** Does an act on all objects that it may act on. What is refused is left, and the code of the refusal is returned. */
export async function doActs(
  acting: Acting,
  acts: readonly RuleAct[],
  objects: readonly JudgedObject[],
): Promise<ActsDone> {
  const done: DoneAct[] = []
  let failed: string | undefined
  for (const act of acts) {
    for (const group of groupsOf(objects))
      await acting.trx
        .transaction()
        .execute(async trx => done.push(...(await actOn({ ...acting, trx }, act, group))))
        .catch((error: unknown) => {
          if (!(error instanceof Refusal)) throw error
          failed = refusalBody(error, 'reads').code ?? error.refusal
        })
  }
  return { done, failed }
}

/** The most values that are left out by one call. */
const MOST_VALUES = 1000

/** Objects of one campaign each. */
function groupsOf(objects: readonly JudgedObject[]): JudgedObject[][] {
  const groups = [...Map.groupBy(objects, ({ campaign_id }) => campaign_id).values()]
  return groups.flatMap(group =>
    Array.from({ length: Math.ceil(group.length / MOST_VALUES) }, (_, at) =>
      group.slice(at * MOST_VALUES, (at + 1) * MOST_VALUES),
    ),
  )
}

/** Does one act on objects of one campaign. */
async function actOn(acting: Acting, act: RuleAct, objects: readonly JudgedObject[]): Promise<DoneAct[]> {
  if (act.type === 'leave_out') return await leaveOut(acting, act, objects)
  if (act.type === 'weights') return await shareOut(acting, act, objects)
  const [first] = objects
  if (first === undefined || act.type === 'tell') return []
  const name = act.type === 'pause' ? 'paused' : 'cap'
  if ((await claim(acting, [campaignOf(first)], name)).size === 0) return []
  const { campaign_id } = first
  if (act.type === 'cap')
    return [{ ...first, act: name, of: { kind: 'cap', id: await capCampaign(acting, act, campaign_id) } }]
  await setStatus(acting, campaign_id, 'paused')
  return [{ ...first, act: name, of: { kind: 'campaign', id: campaign_id } }]
}

const setStatus = (acting: Acting, campaign_id: string, status: string) =>
  call(acting, { endpoint: 'setCampaignStatus', params: { id: toWireId(campaign_id) }, body: { status } })

async function leaveOut(
  acting: Acting,
  { leads_to }: Extract<RuleAct, { type: 'leave_out' }>,
  objects: readonly JudgedObject[],
): Promise<DoneAct[]> {
  const claimed = await claim(acting, objects, 'left_out')
  const leaving = objects.filter(object => claimed.has(keyOfObject(object)))
  const [first] = leaving
  if (first === undefined) return []
  const again: DoneAct[] = []
  for (const object of leaving)
    if (await setShare(acting, object, null)) again.push({ ...object, act: 'left_out', of: historyOfValue(object) })
  const body = {
    field: first.field,
    values: leaving.map(({ value }) => value),
    ...(leads_to === undefined ? {} : { leads_to: wireOf(leads_to) }),
    note: `Rule: ${acting.rule.name}`,
  }
  const reply = await call(acting, { endpoint: 'leaveOut', params: { id: toWireId(first.campaign_id) }, body })
  const added = new Set((reply as { data: { value: string }[] }).data.map(({ value }) => value))
  const fresh = leaving.filter(({ value }) => added.has(value ?? ''))
  return [...again, ...fresh.map((object): DoneAct => ({ ...object, act: 'left_out', of: historyOfValue(object) }))]
}

/** Lets a part of the visitors in (null: none). False if the value is not left out. */
const setShare = (acting: Acting, { campaign_id, field, value }: Place, share: number | null): Promise<boolean> =>
  setLetInShare(
    { db: acting.trx, org_id: acting.place.org_id, act: actFor(acting) },
    { campaign_id, field: field as LeftOutField, value: value ?? '' },
    share,
  )

/** A left-out value as an object of the history. */
export const historyOfValue = ({ campaign_id, field, value }: Place): HistoryObject =>
  leftOutObject({ campaign_id, field: field ?? '', value: value ?? '' })

type LeadsTo = NonNullable<Extract<RuleAct, { type: 'leave_out' }>['leads_to']>
const wireOf = (leads_to: LeadsTo) =>
  leads_to.type === 'offer' ? { ...leads_to, offer_id: toWireId(leads_to.offer_id) } : leads_to

/** Caps the clicks of a campaign: by the cap on clicks that it has for the period, or a new one. Returns its id. */
async function capCampaign(
  acting: Acting,
  { limit, period }: Extract<RuleAct, { type: 'cap' }>,
  campaign_id: string,
): Promise<string> {
  const { trx, place } = acting
  const known = await trx
    .selectFrom('caps')
    .select('id')
    .where('org_id', '=', place.org_id)
    .where('object_id', '=', campaign_id)
    .where('metric', '=', 'clicks')
    .where('period', '=', period)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (known !== undefined) {
    await call(acting, { endpoint: 'updateCap', params: { id: toWireId(known.id) }, body: { limit, active: true } })
    return known.id
  }
  const of = { object: 'campaign', object_id: toWireId(campaign_id), metric: 'clicks' }
  const cap = await call(acting, { endpoint: 'createCap', body: { ...of, limit, period, timezone: place.zone } })
  return (cap as { id: string }).id
}

/** Gives landings or offers of the campaign's funnel their new share, one after another. */
async function shareOut(
  acting: Acting,
  { share }: Extract<RuleAct, { type: 'weights' }>,
  objects: readonly JudgedObject[],
): Promise<DoneAct[]> {
  const done: DoneAct[] = []
  for (const object of objects) {
    const change = await sharedFunnel(acting.trx, acting.place.org_id, object, share)
    if (change === undefined || (await claim(acting, [object], 'weights')).size === 0) continue
    await call(acting, { endpoint: 'updateFunnel', params: { id: toWireId(change.funnel_id) }, body: change.body })
    done.push({ ...object, act: 'weights', of: { kind: 'funnel', id: change.funnel_id } })
  }
  return done
}

/** Lets objects come back that the rule has left out or paused. */
export async function letInAgain(
  acting: Acting,
  objects: readonly (JudgedObject & { readonly share: number })[],
): Promise<DoneAct[]> {
  const done: DoneAct[] = []
  const claimed = await claim(acting, objects, 'let_in')
  for (const { share, ...object } of objects.filter(each => claimed.has(keyOfObject(each)))) {
    const { campaign_id, field, value } = object
    if (field === null) await setStatus(acting, campaign_id, 'active')
    else if (share < 1) await setShare(acting, object, share)
    else
      await call(acting, {
        endpoint: 'letIn',
        params: { id: toWireId(campaign_id) },
        query: { field, value: value ?? '' },
      })
    done.push({
      ...object,
      act: 'let_in',
      of: field === null ? { kind: 'campaign', id: campaign_id } : historyOfValue(object),
    })
  }
  return done
}

/** The acts with the rows of the history that put them back. */
export async function withHistory(acting: Acting, done: readonly DoneAct[]): Promise<RuleCheck['objects']> {
  const rows = await acting.trx
    .selectFrom('history')
    .select(['id', 'kind', 'object_id', 'object_name'])
    .where('org_id', '=', acting.place.org_id)
    .where('act_id', '=', acting.act_id)
    .execute()
  return done.map(({ of, label: _, ...object }) => {
    const row = rows.find(
      ({ kind, object_id, object_name }) =>
        kind === of?.kind && object_id === of.id && (of.name === undefined || of.name === object_name),
    )
    return { ...object, history_id: row?.id ?? null }
  })
}
