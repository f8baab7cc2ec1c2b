/** What someone has chosen for themselves, in every workspace: columns of their row in `users`. */
import type { Call } from '../../contract/endpoint.ts'
import { refuse } from '../../contract/refusals.ts'
import { isTimeZone } from '../../contract/time-zones.ts'
import type { Context } from '../../ground/room.ts'
import type * as api from './api.ts'

const COLUMNS = ['timezone', 'report_columns'] as const

/** What was chosen; null where nothing was. */
export async function readPreferences({ db, actor }: Context<typeof api.readPreferences>) {
  const row = await db
    .selectFrom('users')
    .select(COLUMNS)
    .where('id', '=', actor.user_id)
    .$castTo<api.Preferences>()
    .executeTakeFirst()
  return { timezone: row?.timezone ?? null, report_columns: row?.report_columns ?? null }
}

/** Replaces it; columns that are left out stay. Refuses `tz_unknown`. */
export async function replacePreferences(
  { db, actor }: Context<typeof api.replacePreferences>,
  { body: { timezone, report_columns } }: Call<typeof api.replacePreferences>,
) {
  if (timezone !== null && !isTimeZone(timezone)) refuse('tz_unknown')
  const columns =
    report_columns === undefined ? {} : { report_columns: report_columns && JSON.stringify(report_columns) }
  return db
    .updateTable('users')
    .set({ timezone, ...columns })
    .where('id', '=', actor.user_id)
    .returning(COLUMNS)
    .$castTo<api.Preferences>()
    .executeTakeFirstOrThrow()
}
