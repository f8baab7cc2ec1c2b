/**
 * A workspace's names for event types, and its goal. Owns `event_settings`, with a row once something was set. The settings only change figures and
 * names on screens, also for past days; they do not affect what is recorded, sent or charged.
 */
import { sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import type { Context } from '../../ground/room.ts'
import type * as api from './api.ts'
import type { EventSettings } from './api.ts'

/** The names and the goal; null if none was chosen. */
export async function readEventSettings({
  db,
  actor,
}: Pick<Context<typeof api.readEventSettings>, 'db' | 'actor'>): Promise<EventSettings> {
  const row = await db
    .selectFrom('event_settings')
    .select(['names', 'goal', 'updated_at', 'updated_by'])
    .where('org_id', '=', actor.org_id)
    .$castTo<EventSettings & { updated_by: string }>()
    .executeTakeFirst()
  if (row === undefined) return { names: {}, goal: null, updated_at: null, updated_by: null }
  // Read separately: on a cluster, a statement on `event_settings` goes to one node, and `users` is on all of them.
  const who = await db.selectFrom('users').select('name').where('id', '=', row.updated_by).executeTakeFirst()
  return { ...row, updated_by: who?.name ?? null }
}

/** Replaces names and goal. */
export async function replaceEventSettings(
  { db, actor }: Context<typeof api.replaceEventSettings>,
  { body }: Call<typeof api.replaceEventSettings>,
): Promise<EventSettings> {
  const row = {
    names: JSON.stringify(body.names),
    goal: body.goal === null ? null : [...body.goal],
    updated_by: actor.user_id,
  }
  const updated_at = new Date().toISOString()
  await db
    .insertInto('event_settings')
    .values({ org_id: actor.org_id, ...row, updated_at })
    .onConflict(on =>
      on.column('org_id').doUpdateSet({
        names: sql<string>`excluded.names`,
        goal: sql<string[] | null>`excluded.goal`,
        updated_by: sql<string>`excluded.updated_by`,
        updated_at: sql<string>`excluded.updated_at`,
      }),
    )
    .execute()
  return readEventSettings({ db, actor })
}
