/** Left-out values as the history has them: the object is the campaign, and the name tells its values apart. Owns no table. */
import type { Kysely } from 'kysely'
import { toWireId } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { msOfDatabase } from '../../contract/moments.ts'
import type { HistoryObject, ObjectSnapshot } from '../../ground/history/record.ts'

type Placed = { readonly campaign_id: string; readonly field: string; readonly value: string }
type Details = {
  readonly offer_id: string | null
  readonly note: string | null
  readonly until: string | null
  readonly let_in_share: number | null
}

const SEPARATOR = ' = '
const nameOf = ({ field, value }: Placed): string => field + SEPARATOR + value

/** The field and the value in the name of a left-out value. */
export function leftOutOfName(name: string): { field: string; value: string } {
  const at = name.indexOf(SEPARATOR)
  return { field: name.slice(0, at), value: name.slice(at + SEPARATOR.length) }
}

/** A left-out value as an object of the history. */
export const leftOutObject = (of: Placed): HistoryObject => ({ kind: 'left_out', id: of.campaign_id, name: nameOf(of) })

/** A left-out value in the form of the API. */
export const leftOutSnapshot = (of: Placed & Details): ObjectSnapshot => ({
  name: nameOf(of),
  fields: {
    leads_to: of.offer_id === null ? { type: 'fallback' } : { type: 'offer', offer_id: toWireId(of.offer_id) },
    note: of.note,
    until: of.until === null ? null : new Date(msOfDatabase(of.until)).toISOString(),
    ...(of.let_in_share === null ? {} : { let_in_share: of.let_in_share }),
  },
  secrets: {},
  only_for: null,
})

/** The value as it is in the transaction. */
export async function readLeftOutSnapshot(
  db: Kysely<Tables>,
  org_id: number,
  of: Placed,
): Promise<ObjectSnapshot | undefined> {
  const row = await db
    .selectFrom('left_out_values')
    .select(['offer_id', 'note', 'until', 'let_in_share'])
    .where('org_id', '=', org_id)
    .where('campaign_id', '=', of.campaign_id)
    .where('field', '=', of.field)
    .where('value', '=', of.value)
    .executeTakeFirst()
  return row === undefined ? undefined : leftOutSnapshot({ ...of, ...row })
}
