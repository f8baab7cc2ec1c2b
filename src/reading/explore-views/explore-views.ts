/**
 * Saved views of Explore: named questions. Owns `explore_views`. A private view is visible to the person who saved it alone, not even to owners and
 * admins. A shared view is visible to the workspace; owners and admins share views, and change and delete shared ones, whoever saved them. A person
 * has at most one private start page, and the workspace one shared start page; two unique indexes ensure it. Deletion is final, because nothing refers
 * to a view.
 */
import { type Kysely, sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { ExploreQuestion } from '../../contract/explore.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf, type Member } from '../../ground/room.ts'
import { betweenConversions } from '../../money/billing/balance.ts'
import * as api from './api.ts'

const COLUMNS = [
  'id',
  'name',
  'question',
  'screen',
  'is_shared',
  'is_start_page',
  'created_by',
  'created_at',
  'updated_at',
] as const

type ViewRow = Omit<api.ExploreView, 'question' | 'is_own' | 'saved_by'> & { created_by: string; question: unknown }

/** The caller's private views and the shared ones, by name. */
export async function listExploreViews({ db, actor }: Context<typeof api.listExploreViews>) {
  return { data: await viewsOf(db, actor, await visibleViews(db, actor).orderBy('name').orderBy('id').execute()) }
}

/** Saves a question. Refuses `invalid_request` at the limit of views, and `role_forbidden` to a member who shares it. */
export async function createExploreView(
  { db, actor }: Context<typeof api.createExploreView>,
  { body }: Call<typeof api.createExploreView>,
): Promise<api.ExploreView> {
  const { name, question, screen = null, is_shared = false, is_start_page = false } = body
  const { org_id, user_id: created_by } = actor
  const id = newId()
  if (is_shared) requireAdmin(actor)
  await oneAtATime(db, org_id, async (trx, now) => {
    await requireRoom(trx, actor, is_shared)
    if (is_start_page) await clearStartPage(trx, { org_id, created_by, is_shared })
    const kept = { question: JSON.stringify(question), screen: textOf(screen) }
    await trx
      .insertInto('explore_views')
      .values({ org_id, id, name, ...kept, is_shared, is_start_page, created_by, created_at: now, updated_at: now })
      .execute()
  })
  return readView(db, actor, id)
}

/** Changes the fields that are sent. Refuses `object_not_found`, `role_forbidden`, and `invalid_request` at the limit of views. */
export async function updateExploreView(
  { db, actor }: Context<typeof api.updateExploreView>,
  { params, body }: Call<typeof api.updateExploreView>,
): Promise<api.ExploreView> {
  const id = idOf(params.id)
  const { org_id } = actor
  const { name, question, screen } = body
  await oneAtATime(db, org_id, async (trx, now) => {
    const before = await changeable(trx, actor, id)
    const { created_by } = before
    const is_shared = body.is_shared ?? before.is_shared
    if (is_shared) requireAdmin(actor)
    const isMoved = is_shared !== before.is_shared
    if (isMoved && !is_shared && created_by !== actor.user_id) refuse('role_forbidden', NOT_TAKEN)
    const is_start_page = body.is_start_page ?? (before.is_start_page && !isMoved)
    const isChosen = is_start_page && (isMoved || !before.is_start_page)
    if (isMoved) await requireRoom(trx, actor, is_shared)
    if (isChosen) await clearStartPage(trx, { org_id, created_by, is_shared })
    await trx
      .updateTable('explore_views')
      .set({
        ...(name !== undefined && { name }),
        ...(question !== undefined && { question: JSON.stringify(question) }),
        ...(screen !== undefined && { screen: textOf(screen) }),
        is_shared,
        is_start_page,
        updated_at: now,
      })
      .where('org_id', '=', org_id)
      .where('id', '=', id)
      .execute()
  })
  return readView(db, actor, id)
}

/** Deletes a view for good. Refuses `object_not_found`, `role_forbidden`. */
export async function deleteExploreView(
  { db, actor }: Context<typeof api.deleteExploreView>,
  { params }: Call<typeof api.deleteExploreView>,
) {
  const id = idOf(params.id)
  const { org_id } = actor
  await oneAtATime(db, org_id, async trx => {
    await changeable(trx, actor, id)
    await trx.deleteFrom('explore_views').where('org_id', '=', org_id).where('id', '=', id).execute()
  })
  return { ok: true as const }
}

/** One change at a time in an organization, so that two changes cannot both set a start page or exceed the limit of views. */
const oneAtATime = betweenConversions

const textOf = (screen: api.ExploreView['screen']) => (screen === null ? null : JSON.stringify(screen))

const NOT_TAKEN = {
  error: 'only the person who saved a view makes it private',
  hint: 'Save a private copy, and delete this view.',
}

/** The views that the member sees. */
const visibleViews = (db: Kysely<Tables>, { org_id, user_id }: Member) =>
  db
    .selectFrom('explore_views')
    .select(COLUMNS)
    .where('org_id', '=', org_id)
    .where(on => on.or([on('is_shared', '=', true), on('created_by', '=', user_id)]))
    .$castTo<ViewRow>()

/** A view that the member may change. Refuses `object_not_found` if they cannot see it, and `role_forbidden` if only admins may change it. */
async function changeable(db: Kysely<Tables>, actor: Member, id: string): Promise<ViewRow> {
  const row = (await visibleViews(db, actor).where('id', '=', id).executeTakeFirst()) ?? refuse('object_not_found')
  if (row.is_shared) requireAdmin(actor)
  return row
}

function requireAdmin({ role }: Member): void {
  if (role === 'member')
    refuse('role_forbidden', {
      error: 'only owners and admins share views, and change or delete shared ones',
      hint: 'Save a private view with the same question.',
    })
}

/** Refuses `invalid_request` if the member or the workspace has reached the limit of views. */
async function requireRoom(trx: Kysely<Tables>, { org_id, user_id }: Member, is_shared: boolean): Promise<void> {
  let views = trx.selectFrom('explore_views').where('org_id', '=', org_id).where('is_shared', '=', is_shared)
  if (!is_shared) views = views.where('created_by', '=', user_id)
  const { count } = await views.select(sql<number>`count(*)::int`.as('count')).executeTakeFirstOrThrow()
  const most = is_shared ? api.MOST_SHARED : api.MOST_OWN
  if (count >= most)
    refuse('invalid_request', {
      error: is_shared ? `a workspace has at most ${most} shared views` : `you have at most ${most} private views`,
      hint: 'Delete one that is no longer needed.',
    })
}

type Whose = Pick<Tables['explore_views'], 'org_id' | 'created_by' | 'is_shared'>

/** Makes the present start page an ordinary view. */
async function clearStartPage(trx: Kysely<Tables>, { org_id, created_by, is_shared }: Whose): Promise<void> {
  let views = trx
    .updateTable('explore_views')
    .set({ is_start_page: false })
    .where('org_id', '=', org_id)
    .where('is_shared', '=', is_shared)
    .where('is_start_page', '=', true)
  if (!is_shared) views = views.where('created_by', '=', created_by)
  await views.execute()
}

async function readView(db: Kysely<Tables>, actor: Member, id: string): Promise<api.ExploreView> {
  const row = (await visibleViews(db, actor).where('id', '=', id).executeTakeFirst()) ?? refuse('object_not_found')
  return (await viewsOf(db, actor, [row]))[0] ?? refuse('object_not_found')
}

/** Views for the API. The question is null if this version cannot read it. */
async function viewsOf(db: Kysely<Tables>, { user_id }: Member, rows: readonly ViewRow[]): Promise<api.ExploreView[]> {
  const ids = [...new Set(rows.map(({ created_by }) => created_by))]
  const people =
    ids.length === 0 ? [] : await db.selectFrom('users').select(['id', 'name']).where('id', 'in', ids).execute()
  const names = new Map(people.map(({ id, name }) => [id, name]))
  return rows.map(({ created_by, question, ...row }) => ({
    ...row,
    question: ExploreQuestion.safeParse(question).data ?? null,
    is_own: created_by === user_id,
    saved_by: names.get(created_by) ?? null,
  }))
}
