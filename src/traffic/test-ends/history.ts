/** The ends of split tests as the history has them: the object is the funnel or flow, and the name tells its tests apart. Owns no table. */
import type { Kysely } from 'kysely'
import { toWireId } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { HistoryObject, ObjectSnapshot } from '../../ground/history/record.ts'
import type { TestEnds } from '../campaigns/live-rows.ts'

const SPLIT = 'split '

/** The name of a test: `landings`, `offers`, or `split` with its node. */
export const nameOfTest = (of: 'funnel' | 'click_flow', test: string): string => (of === 'funnel' ? test : SPLIT + test)

/** Which test a name means. */
export const testOfName = (name: string): { of: 'funnel' | 'click_flow'; test: string } =>
  name.startsWith(SPLIT) ? { of: 'click_flow', test: name.slice(SPLIT.length) } : { of: 'funnel', test: name }

export const testObject = (object_id: string, name: string): HistoryObject => ({
  kind: 'split_test',
  id: object_id,
  name,
})

/** The end of a test in the form of the API. */
export function endSnapshot(name: string, ends: TestEnds | undefined): ObjectSnapshot {
  const { of, test } = testOfName(name)
  const end = ends?.[test]
  const winner = end === undefined ? null : of === 'funnel' ? toWireId(end.winner) : end.winner
  return { name, fields: { winner }, secrets: {}, only_for: null }
}

/** The ended tests of a funnel or flow. */
export async function readEnds(db: Kysely<Tables>, org_id: number, object_id: string): Promise<TestEnds | undefined> {
  const row = await db
    .selectFrom('test_ends')
    .select('tests')
    .where('org_id', '=', org_id)
    .where('object_id', '=', object_id)
    .executeTakeFirst()
  return row?.tests as TestEnds | undefined
}
