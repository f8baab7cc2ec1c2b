/**
 * Objects of the history that no endpoint answers with by their id: own rates, subscribers, ends and switches of split tests. And those of which an act may
 * have thousands, from a file: amounts of spend, left-out values, conversions. These are read by one statement.
 */
import { sql } from 'kysely'
import { toWireId } from '../../contract/ids.ts'
import type { HistoryKind } from '../../contract/history.ts'
import type { ObjectFields, HistoryObject, ObjectSnapshot } from '../../ground/history/record.ts'
import { readEventSnapshots } from '../../intake/revisions/history.ts'
import { readSpendSnapshots } from '../../money/ad-spend/history.ts'
import { readLeftOutSnapshots } from '../../traffic/left-out/history.ts'
import { isAutomatic } from '../../traffic/automatic-weights/history.ts'
import { endSnapshot, readEnds, testOfName } from '../../traffic/test-ends/history.ts'
import type { Reading } from './reading.ts'

type Found = (object: HistoryObject) => ObjectSnapshot | undefined

/** The kinds whose objects are read by one statement, and how. */
export const READ_TOGETHER: Partial<
  Record<HistoryKind, (reading: Reading, objects: readonly HistoryObject[]) => Promise<Found>>
> = {
  ad_spend: ({ db, org_id }, objects) => readSpendSnapshots(db, org_id, objects),
  left_out: ({ db, org_id }, objects) => readLeftOutSnapshots(db, org_id, objects),
  event: ({ database, org_id }, objects) => readEventSnapshots(database.reads, org_id, objects),
}

/** The object as it is in the transaction; undefined if there is none. */
export async function readOther(reading: Reading, object: HistoryObject): Promise<ObjectSnapshot | undefined> {
  if (object.kind === 'split_test') return await readTest(reading, object)
  if (object.kind === 'rate') return await readRate(reading, object)
  return await readSubscriber(reading, object)
}

const snapshot = (name: string, fields: ObjectFields): ObjectSnapshot => ({ name, fields, secrets: {}, only_for: null })

/** The end and the switch of a split test. */
async function readTest({ db, org_id }: Reading, { id, name = '' }: HistoryObject): Promise<ObjectSnapshot> {
  const end = endSnapshot(name, await readEnds(db, org_id, id ?? ''))
  const automatic = await isAutomatic(db, org_id, id ?? '', testOfName(name).test)
  return { ...end, fields: { ...end.fields, automatic } }
}

/** The own rate of the currency that was saved last. */
async function readRate({ db, org_id }: Reading, { name = '' }: HistoryObject): Promise<ObjectSnapshot | undefined> {
  const { rows } = await sql<ObjectFields>`
    select from_day, usd_per_unit, note from org_rates where org_id = ${org_id} and currency = ${name}
    order by created_at desc, id desc limit 1`.execute(db)
  return rows[0] === undefined ? undefined : snapshot(name, rows[0])
}

/** Only that there is such a subscriber: a person who is forgotten must be forgotten here too. */
async function readSubscriber({ db, org_id }: Reading, { id }: HistoryObject): Promise<ObjectSnapshot | undefined> {
  const { rows } = await sql`select 1 from subscribers where org_id = ${org_id} and id = ${id}`.execute(db)
  return rows.length === 0 ? undefined : snapshot(toWireId(id ?? ''), {})
}
