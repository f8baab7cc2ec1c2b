/** A person's preferences in every workspace, stored in columns of their row in `users`. */
import type { Call } from '../../contract/endpoint.ts'
import { refuse } from '../../contract/refusals.ts'
import { isTimeZone } from '../../contract/time-zones.ts'
import type { Context } from '../../ground/room.ts'
import type * as api from './api.ts'
import { isOperator } from './operator.ts'

const COLUMNS = ['timezone', 'report_columns'] as const

/** The caller's preferences, null where they have chosen nothing, and whether they run the installation. */
export async function readPreferences({ db, config, actor }: Context<typeof api.readPreferences>) {
  const row = await db
    .selectFrom('users')
    .select(COLUMNS)
    .where('id', '=', actor.user_id)
    .$castTo<api.Preferences>()
    .executeTakeFirst()
  return {
    timezone: row?.timezone ?? null,
    report_columns: row?.report_columns ?? null,
    is_operator: await isOperator({ db, config }, actor.user_id),
  }
}

/** Replaces the caller's preferences; omitted columns are unchanged. Refuses `tz_unknown`. */
export async function replacePreferences(
  { db, config, actor }: Context<typeof api.replacePreferences>,
  { body: { timezone, report_columns } }: Call<typeof api.replacePreferences>,
) {
  if (timezone !== null && !isTimeZone(timezone)) refuse('tz_unknown')
  const columns =
    report_columns === undefined ? {} : { report_columns: report_columns && JSON.stringify(report_columns) }
  const saved = await db
    .updateTable('users')
    .set({ timezone, ...columns })
    .where('id', '=', actor.user_id)
    .returning(COLUMNS)
    .$castTo<api.Preferences>()
    .executeTakeFirstOrThrow()
  return { ...saved, is_operator: await isOperator({ db, config }, actor.user_id) }
}
