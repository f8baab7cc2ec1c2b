/** Left-out values as the history has them: the object is the campaign, and the name tells its values apart. Owns no table. */
import { type Kysely, sql } from 'kysely'
import { toWireId } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { msOfDatabase } from '../../contract/moments.ts'
import { type HistoryObject, objectKey, type ObjectSnapshot } from '../../ground/history/record.ts'

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

/** These values as they are in the transaction, by campaign and name. */
export async function readLeftOutSnapshots(
  db: Kysely<Tables>,
  org_id: number,
  objects: readonly HistoryObject[],
): Promise<(object: HistoryObject) => ObjectSnapshot | undefined> {
  const sought = objects.map(({ id, name = '' }) => ({ campaign_id: id, ...leftOutOfName(name) }))
  const { rows } = await sql<Placed & Details>`
    select campaign_id, field, value, offer_id, note, until, let_in_share from left_out_values
    where org_id = ${org_id} and (campaign_id, field, value) in (
      select * from unnest(${sought.map(({ campaign_id }) => campaign_id)}::uuid[],
        ${sought.map(({ field }) => field)}::text[], ${sought.map(({ value }) => value)}::text[]))`.execute(db)
  const found = new Map(rows.map(row => [objectKey(leftOutObject(row)), row]))
  return object => {
    const row = found.get(objectKey(object))
    return row === undefined ? undefined : leftOutSnapshot(row)
  }
}
