/**
 * Rules: what Sluice does by itself upon results. Owns `rules`, `rule_checks` and `rule_objects`. What must stay true: a check and its acts are committed
 * together with its row in the log; an object is acted on at most once in 24 hours; a due time is checked by one process.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { type Condition, MONEY_FIGURES } from '../../contract/rules.ts'
import { newestFirst } from '../../ground/db/lists.ts'
import { type Context, idOf } from '../../ground/room.ts'
import * as api from './api.ts'
import { nextDue, USUAL_AT } from './clock.ts'
import { endEpisodesOf } from '../alerts/tell.ts'
import { ONCE_MS } from './acts.ts'
import { requireReferences, requireSpendByHour } from './reach.ts'
import { askedCheck, type Definition, requireRule, type RuleRow, rulesOf, workspaceZone } from './stored.ts'

const shownCondition = (condition: Condition) =>
  'value' in condition && !MONEY_FIGURES.includes(condition.figure)
    ? { ...condition, value: Number(condition.value) }
    : condition

function describeRule(row: RuleRow, zone: string, now_ms: number): api.ResultRule {
  const { id, name, active, version, definition, waits_for, created_at, updated_at } = row
  const { back, when } = definition
  const isAsking = askedCheck(row, now_ms) !== undefined
  const state = isAsking ? 'asking' : row.state === 'asking' ? 'watching' : row.state
  return {
    ...definition,
    id,
    name,
    active,
    version,
    when: when.map(shownCondition),
    at: definition.at ?? null,
    back: back !== null && 'when' in back ? { when: back.when.map(shownCondition) } : back,
    state,
    waits_for: state === 'waiting' || state === 'failing' ? waits_for : null,
    next_check_at: active ? new Date(nextDue(definition, zone, now_ms)).toISOString() : null,
    created_at,
    updated_at,
  }
}

/** Rules of the workspace, newest first. */
export async function listRules({ db, actor }: Context<typeof api.listRules>, { query }: Call<typeof api.listRules>) {
  const zone = await workspaceZone(db, actor.org_id)
  const { data, next_cursor } = await newestFirst(rulesOf(db, actor.org_id), query)
  return { data: data.map(row => describeRule(row, zone, Date.now())), next_cursor }
}

/** One rule. Refuses `object_not_found`. */
export async function readRule({ db, actor }: Context<typeof api.readRule>, { params }: Call<typeof api.readRule>) {
  const row = await requireRule(db, actor.org_id, idOf(params.id))
  return describeRule(row, await workspaceZone(db, actor.org_id), Date.now())
}

/** The fields as they are stored: times of day only where they count. */
export function definitionOf({ name: _, active: __, ...fields }: api.RuleFields): Definition {
  return { ...fields, at: fields.every === 'day' ? (fields.at ?? USUAL_AT) : null }
}

/** What follows from the clock: when the rule is checked next, in which zone. */
function dueFields(active: boolean, definition: Definition, zone: string) {
  const next = active ? new Date(nextDue(definition, zone, Date.now())).toISOString() : null
  return { zone, next_check_at: next }
}

/** Creates a rule. Refuses `invalid_request` for objects that are not the workspace's, and `spend_by_day_only`. */
export async function createRule({ db, actor }: Context<typeof api.createRule>, { body }: Call<typeof api.createRule>) {
  const { org_id } = actor
  const definition = definitionOf(body)
  await requireReferences(db, org_id, definition)
  await requireSpendByHour(db, org_id, definition)
  const zone = await workspaceZone(db, org_id)
  const now = new Date().toISOString()
  const id = newId()
  const { name, active } = body
  await db
    .insertInto('rules')
    .values({
      org_id,
      id,
      name,
      active,
      version: 1,
      definition: JSON.stringify(definition),
      ...dueFields(active, definition, zone),
      created_at: now,
      updated_at: now,
    })
    .execute()
  return describeRule(await requireRule(db, org_id, id), zone, Date.now())
}

/**
 * Changes a rule. Repeating what is so already is a no-op. Refuses `object_not_found`, `invalid_request` and `spend_by_day_only`.
 */
export async function updateRule(
  { db, actor }: Context<typeof api.updateRule>,
  { params, body }: Call<typeof api.updateRule>,
) {
  const { org_id } = actor
  const row = await requireRule(db, org_id, idOf(params.id))
  const sent = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
  const fields: api.RuleFields = { name: row.name, active: row.active, ...row.definition, ...sent }
  const fault = api.faultOfRule(fields)
  if (fault !== undefined) refuse('invalid_request', { error: `${fault.path}: ${fault.message}` })
  const { name, active } = fields
  const definition = definitionOf(fields)
  const zone = await workspaceZone(db, org_id)
  const isSame =
    name === row.name && active === row.active && isDeepStrictEqual(plain(definition), plain(row.definition))
  if (isSame) return describeRule(row, zone, Date.now())
  await requireReferences(db, org_id, definition, row.definition)
  if (!isDeepStrictEqual(plain(definition), plain(row.definition))) await requireSpendByHour(db, org_id, definition)
  await db
    .updateTable('rules')
    .set({
      name,
      active,
      version: row.version + 1,
      definition: JSON.stringify(definition),
      state: 'watching',
      waits_for: null,
      asked_check_id: null,
      asked_at: null,
      ...dueFields(active, definition, zone),
      updated_at: new Date().toISOString(),
    })
    .where('org_id', '=', org_id)
    .where('id', '=', row.id)
    .execute()
  return describeRule(await requireRule(db, org_id, row.id), zone, Date.now())
}

const plain = (definition: Definition): unknown => JSON.parse(JSON.stringify(definition))

/** Deletes a rule and its log, and ends its alerts without a message. What it did stays. Refuses `object_not_found`. */
export async function deleteRule(
  { db, actor }: Context<typeof api.deleteRule>,
  { params }: Call<typeof api.deleteRule>,
) {
  const { org_id } = actor
  const id = idOf(params.id)
  const deleted = db.deleteFrom('rules').where('org_id', '=', org_id).where('id', '=', id)
  if ((await deleted.executeTakeFirst()).numDeletedRows === 0n) refuse('object_not_found')
  await endEpisodesOf(db, org_id, id)
  // Later acts count for other rules: an object is acted on once in this time.
  const past = new Date(Date.now() - ONCE_MS).toISOString()
  await db
    .deleteFrom('rule_objects')
    .where('org_id', '=', org_id)
    .where('rule_id', '=', id)
    .where('acted_at', '<=', past)
    .execute()
  await db.deleteFrom('rule_checks').where('org_id', '=', org_id).where('rule_id', '=', id).execute()
  return { ok: true as const }
}
