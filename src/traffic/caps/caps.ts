/**
 * Caps: limits of an offer or a campaign per period. Owns `caps` and `cap_counts`. The intake queue writes both as well, because a conversion is
 * counted in the transaction that records it. The redirect reads only `closed_until`, so no job has to run when a period ends. Changes of caps
 * run between conversions, so that each conversion is counted by the old cap or by the new one.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { newestFirst } from '../../ground/db/lists.ts'
import { undelete } from '../../ground/db/undelete.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { betweenConversions, readMoment } from '../../money/billing/balance.ts'
import { announceChange } from '../campaigns/live.ts'
import * as api from './api.ts'
import { requireChain } from './chain.ts'
import { msOf, periodAt } from './period.ts'
import { type CountedCap, countConversions, recountCap } from './recount.ts'
import { CAP_COLUMNS, type CapRow, describeCaps, isReached } from './rows.ts'

/** The limit per workspace, because every conversion is checked against its caps. */
const MOST_CAPS = 500

/** The caps of the organization whose offer or campaign is not deleted, newest first. */
export async function listCaps({ db, actor }: Context<typeof api.listCaps>, { query }: Call<typeof api.listCaps>) {
  let rows = live(db, actor.org_id).select(CAP_COLUMNS)
  if (query.object_id !== undefined) rows = rows.where('object_id', '=', query.object_id)
  const { data, next_cursor } = await newestFirst(rows.$castTo<CapRow>(), query)
  return { data: await describeCaps(db, actor.org_id, data), next_cursor }
}

/**
 * Creates a cap and counts the conversions of its period so far. Refuses `invalid_request` for an offer or campaign that does not exist, and
 * `cap_cycle`.
 */
export async function createCap({ db, actor }: Context<typeof api.createCap>, { body }: Call<typeof api.createCap>) {
  const { org_id } = actor
  const id = newId()
  await requireObject(db, org_id, body)
  const before = await readMoment(db, org_id)
  const cap: CountedCap = {
    id,
    object: body.object,
    object_id: body.object_id,
    metric: body.metric,
    event_types: body.event_types ?? [],
    limit: body.limit,
    period: body.period,
    timezone: body.timezone ?? 'UTC',
    active: body.active ?? true,
    created_at: before,
  }
  const earlier = await countConversions(db, org_id, cap, before)
  await betweenConversions(db, org_id, async (trx, now) => {
    await requireRoom(trx, org_id)
    await requireThenOffer(trx, org_id, cap, body.then_offer_id)
    await trx
      .insertInto('caps')
      .values({
        ...cap,
        org_id,
        then_offer_id: body.then_offer_id ?? null,
        when_unknown: body.when_unknown ?? 'closed',
        updated_at: now,
      })
      .execute()
    await recountCap(trx, org_id, cap, { now, earlier, hasNewLimit: true })
  })
  await announceChange(db, org_id, id)
  return describeCap(db, org_id, id)
}

/** Changes the fields that are sent, and counts again. Refuses `object_not_found`, `invalid_request`, `cap_cycle`. */
export async function updateCap(
  { db, actor }: Context<typeof api.updateCap>,
  { params, body }: Call<typeof api.updateCap>,
) {
  const { org_id } = actor
  const stored = await capOf(db, org_id, idOf(params.id))
  if (stored.object === 'campaign' && body.then_offer_id != null)
    refuse('invalid_request', { error: `then_offer_id: ${api.CAMPAIGN_FAULT}` })
  if (stored.metric !== 'conversions' && (body.event_types?.length ?? 0) > 0)
    refuse('invalid_request', { error: `event_types: ${api.TYPES_FAULT}` })
  const earlier = await countConversions(db, org_id, withChanges(stored, body), await readMoment(db, org_id))
  await betweenConversions(db, org_id, async (trx, now) => {
    const before = await capOf(trx, org_id, stored.id)
    const cap = withChanges(before, body)
    if (cap.then_offer_id !== before.then_offer_id) await requireThenOffer(trx, org_id, cap, cap.then_offer_id)
    const { event_types, limit, period, timezone, then_offer_id, when_unknown, active } = cap
    await trx
      .updateTable('caps')
      .set({ event_types, limit, period, timezone, then_offer_id, when_unknown, active, updated_at: now })
      .where('org_id', '=', org_id)
      .where('id', '=', stored.id)
      .execute()
    await recountCap(trx, org_id, cap, { now, earlier, hasNewLimit: limit !== before.limit })
  })
  await announceChange(db, org_id, stored.id)
  return describeCap(db, org_id, stored.id)
}

const withChanges = (cap: CapRow, sent: Call<typeof api.updateCap>['body']): CapRow => ({
  ...cap,
  event_types: sent.event_types === undefined ? cap.event_types : (sent.event_types ?? []),
  limit: sent.limit ?? cap.limit,
  period: sent.period ?? cap.period,
  timezone: sent.timezone ?? cap.timezone,
  then_offer_id: sent.then_offer_id === undefined ? cap.then_offer_id : sent.then_offer_id,
  when_unknown: sent.when_unknown ?? cap.when_unknown,
  active: sent.active ?? cap.active,
})

/** Deletes softly, so that other processes see the deletion. Refuses `object_not_found`. */
export async function deleteCap({ db, actor }: Context<typeof api.deleteCap>, { params }: Call<typeof api.deleteCap>) {
  const { org_id } = actor
  const { id } = await capOf(db, org_id, idOf(params.id))
  await betweenConversions(db, org_id, (trx, now) =>
    trx
      .updateTable('caps')
      .set({ deleted_at: now, updated_at: now })
      .where('org_id', '=', org_id)
      .where('id', '=', id)
      .execute(),
  )
  await announceChange(db, org_id, id)
  return { ok: true as const }
}

/** Opens a reached cap until its period ends, and stores who did. Refuses `object_not_found`. */
export async function reopenCap({ db, actor }: Context<typeof api.reopenCap>, { params }: Call<typeof api.reopenCap>) {
  const { org_id, user_id } = actor
  const { id } = await capOf(db, org_id, idOf(params.id))
  await betweenConversions(db, org_id, async (trx, now) => {
    const cap = await capOf(trx, org_id, id)
    if (!isReached(cap, msOf(now))) return
    await sql`
      update cap_counts set reopened_at = ${now}, reopened_by = ${user_id}
      where org_id = ${org_id} and cap_id = ${id} and period_start = ${periodAt(cap, msOf(now)).start}`.execute(trx)
    await sql`
      update caps set closed_until = null, updated_at = ${now}
      where org_id = ${org_id} and id = ${id}`.execute(trx)
  })
  await announceChange(db, org_id, id)
  return describeCap(db, org_id, id)
}

const live = (db: Kysely<Tables>, org_id: number) =>
  db
    .selectFrom('caps')
    .where('org_id', '=', org_id)
    .where('deleted_at', 'is', null)
    .where(
      sql<boolean>`(
        exists (select from offers o where o.org_id = ${org_id} and o.id = caps.object_id and o.deleted_at is null)
        or exists (select from campaigns c where c.org_id = ${org_id} and c.id = caps.object_id and c.deleted_at is null))`,
    )

async function capOf(db: Kysely<Tables>, org_id: number, id: string): Promise<CapRow> {
  const row = live(db, org_id).select(CAP_COLUMNS).where('id', '=', id).$castTo<CapRow>()
  return (await row.executeTakeFirst()) ?? refuse('object_not_found')
}

const describeCap = async (db: Kysely<Tables>, org_id: number, id: string): Promise<api.Cap> =>
  (await describeCaps(db, org_id, [await capOf(db, org_id, id)]))[0] ?? refuse('object_not_found')

async function requireRoom(trx: Transaction<Tables>, org_id: number, below = MOST_CAPS): Promise<void> {
  const { count } = await live(trx, org_id).select(sql<number>`count(*)::int`.as('count')).executeTakeFirstOrThrow()
  if (count >= below)
    refuse('invalid_request', {
      error: `a workspace has at most ${MOST_CAPS} caps`,
      hint: 'Delete one that is no longer needed.',
    })
}

async function requireObject(
  db: Kysely<Tables>,
  org_id: number,
  { object, object_id }: Pick<api.CapDraft, 'object' | 'object_id'>,
): Promise<void> {
  const found = await db
    .selectFrom(object === 'offer' ? 'offers' : 'campaigns')
    .select('id')
    .where('org_id', '=', org_id)
    .where('id', '=', object_id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (found === undefined) refuse('invalid_request', { error: `object_id: no such ${object}` })
}

/** Refuses unless `then_offer_id` is an active offer from which no chain of caps leads back. */
async function requireThenOffer(
  trx: Transaction<Tables>,
  org_id: number,
  { id, object_id }: Pick<CountedCap, 'id' | 'object_id'>,
  then_offer_id: string | null | undefined,
): Promise<void> {
  if (then_offer_id == null) return
  const offer = await trx
    .selectFrom('offers')
    .select('status')
    .where('org_id', '=', org_id)
    .where('id', '=', then_offer_id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (offer === undefined) refuse('invalid_request', { error: 'then_offer_id: no such offer' })
  if (offer.status !== 'active')
    refuse('invalid_request', { error: 'then_offer_id: the offer is archived', hint: 'Unarchive it first.' })
  const others = await live(trx, org_id)
    .select(['object_id as from', 'then_offer_id as to'])
    .where('then_offer_id', 'is not', null)
    .where('id', '<>', id)
    .$castTo<{ from: string; to: string }>()
    .execute()
  requireChain([...others, { from: object_id, to: then_offer_id }])
}

/**
 * Takes back the deletion of a cap, for the history, and counts its period again; in a transaction of its caller. False if it is not deleted. Refuses
 * `cap_cycle`, and `invalid_request` at the limit of caps or for an archived offer.
 */
export async function restoreCap(db: Kysely<Tables>, org_id: number, id: string): Promise<boolean> {
  const at = await readMoment(db, org_id)
  if (!(await undelete(db, 'caps', { org_id, id, at }))) return false
  const cap = await capOf(db, org_id, id)
  const earlier = await countConversions(db, org_id, cap, at)
  await betweenConversions(db, org_id, async (trx, now) => {
    await requireRoom(trx, org_id, MOST_CAPS + 1)
    await requireThenOffer(trx, org_id, cap, cap.then_offer_id)
    await recountCap(trx, org_id, cap, { now, earlier, hasNewLimit: true })
  })
  await announceChange(db, org_id, id)
  return true
}
