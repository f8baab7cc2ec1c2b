/** What someone has chosen for themselves, in every workspace: a column of their row in `users`. */
import type { Call } from '../../contract/endpoint.ts'
import { refuse } from '../../contract/refusals.ts'
import { isTimeZone } from '../../contract/time-zones.ts'
import type { Context } from '../../ground/room.ts'
import type * as api from './api.ts'

/** What was chosen; null where nothing was. */
export async function readPreferences({ db, actor }: Context<typeof api.readPreferences>) {
  const row = await db.selectFrom('users').select('timezone').where('id', '=', actor.user_id).executeTakeFirst()
  return { timezone: row?.timezone ?? null }
}

/** Replaces it. Refuses `tz_unknown`. */
export async function replacePreferences(
  { db, actor }: Context<typeof api.replacePreferences>,
  { body: { timezone } }: Call<typeof api.replacePreferences>,
) {
  if (timezone !== null && !isTimeZone(timezone)) refuse('tz_unknown')
  await db.updateTable('users').set({ timezone }).where('id', '=', actor.user_id).execute()
  return { timezone }
}
