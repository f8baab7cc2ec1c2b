/**
 * Funnels: landings and offers that share the visitors of campaigns by weight. A visitor gets one landing and then one offer, both chosen at the
 * click. Owns `funnels`. Archived and deleted members stay in the list but get no visitors. Deletion is soft; visitors of campaigns that lead to a
 * deleted funnel go to the fallback.
 */
import { isDeepStrictEqual } from 'node:util'
import { type Kysely, sql } from 'kysely'
import type { Labels } from '../../contract/labels.ts'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { createOnce } from '../../ground/create-once.ts'
import { newestFirstFile } from '../../ground/db/list-file.ts'
import { nameHolds, newestFirst, picked, type Wanted } from '../../ground/db/lists.ts'
import { undelete } from '../../ground/db/undelete.ts'
import { hasTag, noteDeed, tagsDeed } from '../../ground/db/labels.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { readMoment } from '../../money/billing/balance.ts'
import { requireScopeOfAll } from '../campaigns/campaigns.ts'
import { announceChange } from '../campaigns/live.ts'
import { campaignsOnFallback } from '../campaigns/on-fallback.ts'
import * as api from './api.ts'

const COLUMNS = ['id', 'name', 'landings', 'offers', 'tag_ids', 'note', 'created_at', 'updated_at'] as const

type FunnelRow = Labels & {
  id: string
  name: string
  landings: { landing_id: string; weight: number }[]
  offers: { offer_id: string; weight: number }[]
  created_at: string
  updated_at: string
}
type Members = Pick<FunnelRow, 'landings' | 'offers'>

/** Funnels of the organization, newest first, each member with its name and status. */
export async function listFunnels(
  { db, actor }: Context<typeof api.listFunnels>,
  { query }: Call<typeof api.listFunnels>,
) {
  const { data, next_cursor } = await newestFirst(listed(db, actor.org_id, query), query)
  return { data: await withStates(db, actor.org_id, data), next_cursor }
}

/** The listed funnels as a CSV file. Refuses `too_many_lines`. */
export async function exportFunnels(
  { db, actor }: Context<typeof api.exportFunnels>,
  { body }: Call<typeof api.exportFunnels>,
) {
  const rows = listed(db, actor.org_id, picked(body))
  return await newestFirstFile(api.Funnel, rows, found => withStates(db, actor.org_id, found))
}

function listed(db: Kysely<Tables>, org_id: number, { ids, q, tag_id }: Wanted<Call<typeof api.listFunnels>['query']>) {
  let rows = live(db, org_id).select(COLUMNS)
  if (ids !== undefined) rows = rows.where('id', 'in', ids)
  if (q) rows = rows.where(nameHolds(q))
  if (tag_id !== undefined) rows = rows.where(hasTag(tag_id))
  return rows.$castTo<FunnelRow>()
}

/** One funnel. Refuses `object_not_found`. */
export async function readFunnel(
  { db, actor }: Context<typeof api.readFunnel>,
  { params }: Call<typeof api.readFunnel>,
) {
  return await stated(db, actor.org_id, await funnelOf(db, actor.org_id, idOf(params.id)))
}

/** Creates a funnel. Refuses `invalid_request` for members that do not exist or are archived, and without any member. */
export async function createFunnel(context: Context<typeof api.createFunnel>, { body }: Call<typeof api.createFunnel>) {
  const { db, actor } = context
  const { org_id } = actor
  const members = { landings: body.landings ?? [], offers: body.offers ?? [] }
  requireSome(members)
  await requireMembers(db, org_id, members)
  const now = await readMoment(db, org_id)
  const created = { org_id, id: newId(), name: body.name, ...asJson(members), created_at: now, updated_at: now }
  const id = await db
    .transaction()
    .execute(trx =>
      createOnce(trx, context, { table: 'funnels', id: created.id, body }, () =>
        trx.insertInto('funnels').values(created).execute(),
      ),
    )
  await announceChange(db, org_id, id)
  return { ...(await stated(db, org_id, await funnelOf(db, org_id, id))), warnings: [] }
}

/** Changes the fields that are sent. Archived and deleted members may stay if they are in the funnel already. */
export async function updateFunnel(
  { db, actor }: Context<typeof api.updateFunnel>,
  { params, body }: Call<typeof api.updateFunnel>,
) {
  const { org_id } = actor
  const { row, isChanged } = await db.transaction().execute(async db => {
    // Locked, so that two concurrent changes cannot leave the funnel empty.
    const now = await live(db, org_id)
      .select(COLUMNS)
      .where('id', '=', idOf(params.id))
      .forUpdate()
      .$castTo<FunnelRow>()
      .executeTakeFirst()
    if (now === undefined) refuse('object_not_found')
    const { landings = now.landings, offers = now.offers, name = now.name } = body
    const members = { landings: landings ?? [], offers: offers ?? [] }
    if (isDeepStrictEqual({ ...now, ...members, name }, now)) return { row: now, isChanged: false }
    requireSome(members)
    await requireMembers(db, org_id, members, now)
    const row = await db
      .updateTable('funnels')
      .set({ ...asJson(members), name, updated_at: await readMoment(db, org_id) })
      .where('org_id', '=', org_id)
      .where('id', '=', now.id)
      .returning(COLUMNS)
      .$castTo<FunnelRow>()
      .executeTakeFirstOrThrow()
    return { row, isChanged: true }
  })
  if (isChanged) await announceChange(db, org_id, row.id)
  return { ...(await stated(db, org_id, row)), warnings: [] }
}

/** Deletes softly. A restricted key needs every campaign that leads to it. */
export async function deleteFunnel(
  context: Context<typeof api.deleteFunnel>,
  { params }: Call<typeof api.deleteFunnel>,
) {
  const { db, actor } = context
  const { id } = await funnelOf(db, actor.org_id, idOf(params.id))
  await requireScopeOfAll(context, 'funnel', id)
  const now = await readMoment(db, actor.org_id)
  const { numUpdatedRows } = await db
    .updateTable('funnels')
    .set({ deleted_at: now, updated_at: now })
    .where('org_id', '=', actor.org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) refuse('object_not_found')
  await announceChange(db, actor.org_id, id)
  return { ok: true as const, id, campaigns_on_fallback: await campaignsOnFallback(context, 'funnel', id) }
}

const live = (db: Kysely<Tables>, org_id: number) =>
  db.selectFrom('funnels').where('org_id', '=', org_id).where('deleted_at', 'is', null)

async function funnelOf(db: Kysely<Tables>, org_id: number, id: string): Promise<FunnelRow> {
  const row = await live(db, org_id).select(COLUMNS).where('id', '=', id).$castTo<FunnelRow>().executeTakeFirst()
  return row ?? refuse('object_not_found')
}

const asJson = ({ landings, offers }: Members) => ({
  landings: JSON.stringify(landings),
  offers: JSON.stringify(offers),
})

function requireSome({ landings, offers }: Members): void {
  if (landings.length + offers.length === 0)
    refuse('invalid_request', {
      error: 'landings, offers: a funnel needs a landing or an offer',
      hint: 'Create a landing or an offer, and send its id with a weight.',
    })
}

/** Refuses `invalid_request` unless the new members exist and are active. */
async function requireMembers(db: Kysely<Tables>, org_id: number, members: Members, now?: Members): Promise<void> {
  const states = await statesOf(db, org_id, [members])
  const require = (field: string, kind: State['kind'], id: string) => {
    const state = states.get(id)
    if (state?.kind !== kind || state.status === 'deleted')
      refuse('invalid_request', { error: `${field}: no such ${kind}` })
    if (state.status === 'archived')
      refuse('invalid_request', { error: `${field}: the ${kind} is archived`, hint: 'Unarchive it first.' })
  }
  const [landings, offers] = [new Set(now?.landings.map(idOfMember)), new Set(now?.offers.map(idOfMember))]
  for (const [at, { landing_id: id }] of members.landings.entries())
    if (!landings.has(id)) require(`landings.${at}.landing_id`, 'landing', id)
  for (const [at, { offer_id: id }] of members.offers.entries())
    if (!offers.has(id)) require(`offers.${at}.offer_id`, 'offer', id)
}

const idOfMember = (member: { landing_id: string } | { offer_id: string }): string =>
  'landing_id' in member ? member.landing_id : member.offer_id

type State = { kind: 'landing' | 'offer'; name: string; status: 'active' | 'archived' | 'deleted' }

const idsOf = (rows: readonly Members[]): string[] =>
  rows.flatMap(({ landings, offers }) => [...landings, ...offers].map(idOfMember))

/** Name and status of every member, by id. */
async function statesOf(db: Kysely<Tables>, org_id: number, rows: readonly Members[]): Promise<Map<string, State>> {
  const ids = idsOf(rows)
  if (ids.length === 0) return new Map()
  const { rows: found } = await sql<State & { id: string }>`
    select id, 'landing' as kind, name, case when deleted_at is null then status else 'deleted' end as status
      from landings where org_id = ${org_id} and id = any(${ids})
    union all
    select id, 'offer' as kind, name, case when deleted_at is null then status else 'deleted' end as status
      from offers where org_id = ${org_id} and id = any(${ids})`.execute(db)
  return new Map(found.map(({ id, ...state }) => [id, state]))
}

async function withStates(db: Kysely<Tables>, org_id: number, rows: readonly FunnelRow[]): Promise<api.Funnel[]> {
  const states = await statesOf(db, org_id, rows)
  const state = (id: string) => {
    const { name = '', status = 'deleted' as const } = states.get(id) ?? {}
    return { name, status }
  }
  return rows.map(row => ({
    ...row,
    landings: row.landings.map(member => ({ ...member, ...state(member.landing_id) })),
    offers: row.offers.map(member => ({ ...member, ...state(member.offer_id) })),
  }))
}

async function stated(db: Kysely<Tables>, org_id: number, row: FunnelRow): Promise<api.Funnel> {
  const [funnel] = await withStates(db, org_id, [row])
  return funnel ?? refuse('object_not_found')
}

/** Takes back the deletion of a funnel, for the history; traffic goes there again. False if it is not deleted. */
export async function restoreFunnel(db: Kysely<Tables>, org_id: number, id: string): Promise<boolean> {
  const isRestored = await undelete(db, 'funnels', { org_id, id, at: await readMoment(db, org_id) })
  await announceChange(db, org_id, id)
  return isRestored
}

export const setFunnelTags = tagsDeed('funnels')
export const setFunnelNote = noteDeed('funnels')
