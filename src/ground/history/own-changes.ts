/** Records changes that Sluice itself makes to an object, in the transaction that makes them. */
import type pg from 'pg'
import { newId } from '../../contract/ids.ts'
import { builderOn } from '../db/on-client.ts'
import { type Because, type HistoryObject, lockHistory, type ObjectFields, recordChanges } from './record.ts'

/** The name of the object, and the changed fields in the form of the API, before and after. */
type OwnChange = { readonly name: string; readonly before: ObjectFields; readonly after: ObjectFields }

/**
 * Runs `write`, which returns what it changed, and records that. With `isPatient` false it does nothing while another write of the object is going on,
 * because a caller that already holds other locks must not wait for this one.
 */
export async function recordOwnChange(
  client: pg.ClientBase,
  org_id: number,
  { because, object, isPatient = true }: { because: Because; object: HistoryObject; isPatient?: boolean },
  write: () => Promise<OwnChange | undefined>,
): Promise<void> {
  const db = builderOn(client)
  if (!(await lockHistory(db, org_id, [object], isPatient))) return
  const change = await write()
  if (change === undefined) return
  const snapshot = (fields: ObjectFields) => ({ name: change.name, fields, secrets: {}, only_for: null })
  await recordChanges(db, org_id, { act_id: newId(), actor: { kind: 'sluice', because } }, [
    { ...object, before: snapshot(change.before), after: snapshot(change.after) },
  ])
}
