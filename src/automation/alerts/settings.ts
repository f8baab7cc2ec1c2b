/** Which alerts a workspace gets. Owns `alert_settings`, with a row once something was set. */
import type { Kysely } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Context } from '../../ground/room.ts'
import { type AlertSettings, type replaceAlertSettings as Replace, USUAL_MIN_EXPECTED } from './api.ts'

type Asking = { readonly db: Kysely<Tables>; readonly actor: { readonly org_id: number } }

/** The settings; the usual ones if none were set. */
export async function readAlertSettings({ db, actor }: Asking): Promise<AlertSettings> {
  const row = await db
    .selectFrom('alert_settings')
    .select(['off_kinds', 'min_expected'])
    .where('org_id', '=', actor.org_id)
    .executeTakeFirst()
  return {
    off: (row?.off_kinds ?? []) as AlertSettings['off'],
    fall: { conversions: { min_expected: row?.min_expected ?? USUAL_MIN_EXPECTED } },
  }
}

/** Replaces the settings. */
export async function replaceAlertSettings(
  context: Context<typeof Replace>,
  { body: { off, fall } }: Call<typeof Replace>,
): Promise<AlertSettings> {
  const row = {
    off_kinds: [...new Set(off)],
    min_expected: fall.conversions.min_expected,
    updated_at: new Date().toISOString(),
  }
  await context.db
    .insertInto('alert_settings')
    .values({ org_id: context.actor.org_id, ...row })
    .onConflict(on => on.column('org_id').doUpdateSet(row))
    .execute()
  return await readAlertSettings(context)
}
