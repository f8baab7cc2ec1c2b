/** The switches of split tests as the history has them. Owns no table. */
import type { Kysely } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import type { ObjectSnapshot } from '../../ground/history/record.ts'

/** Whether the weights of a test are automatic. */
export async function isAutomatic(
  db: Kysely<Tables>,
  org_id: number,
  object_id: string,
  test: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('automatic_tests')
    .select('automatic')
    .where('org_id', '=', org_id)
    .where('object_id', '=', object_id)
    .where('test', '=', test)
    .executeTakeFirst()
  return row?.automatic ?? false
}

/** The switch in the form of the API. */
export const automaticSnapshot = (name: string, automatic: boolean): ObjectSnapshot => ({
  name,
  fields: { automatic },
  secrets: {},
  only_for: null,
})
