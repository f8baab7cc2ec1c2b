/** The moves of automatic weights: which tests are due for a look, and what was moved when. All times are by the clock of the process. */
import type { Kysely } from 'kysely'
import { msOfDatabase } from '../../contract/moments.ts'
import type { Among } from '../../ground/db/everywhere.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { TestPlace } from '../test-ends/variants.ts'

/** A move: the act of its rows in the history, and the version of the click flow that it published. */
export type WeightMove = { readonly act_id: string; readonly version: number | null; readonly moved_ms: number }

/** A test whose weights may be moved now. */
export type DueTest = {
  readonly org_id: number
  readonly organization_id: string
  readonly zone: string
  readonly object_id: string
  readonly test: string
  readonly next_look_at: string
  readonly of: TestPlace['of'] | null
}

/** Selects the due tests (`$1`: now). `of` is null for one whose funnel or flow was deleted. */
export const DUE_TESTS = (among: Among) => `
  select t.org_id, o.id as organization_id, coalesce(o.timezone, 'UTC') as zone, t.object_id, t.test, t.next_look_at,
    case when f.id is not null then 'funnel' when c.id is not null then 'click_flow' end as of
  from automatic_tests t join organizations o on o.org_id = t.org_id
    left join funnels f on f.org_id = t.org_id and f.id = t.object_id and f.deleted_at is null${among('f.org_id')}
    left join click_flows c on c.org_id = t.org_id and c.id = t.object_id and c.deleted_at is null${among('c.org_id')}
  where t.automatic and t.next_look_at <= $1 and o.deleted_at is null${among('t.org_id')}`

/** The moves of a test, newest first. */
export async function movesOf(
  db: Kysely<Tables>,
  org_id: number,
  object_id: string,
  test: string,
): Promise<WeightMove[]> {
  const rows = await db
    .selectFrom('weight_moves')
    .select(['act_id', 'version', 'moved_at'])
    .where('org_id', '=', org_id)
    .where('object_id', '=', object_id)
    .where('test', '=', test)
    .orderBy('moved_at', 'desc')
    .execute()
  return rows.map(({ moved_at, ...move }) => ({ ...move, moved_ms: msOfDatabase(moved_at) }))
}

type StoredTest = Pick<DueTest, 'org_id' | 'object_id' | 'test'>

/** Whether the test is still due for the same look: no process has looked meanwhile, and nobody switched it off. */
export async function isStillDue(db: Kysely<Tables>, due: DueTest): Promise<boolean> {
  const row = await db
    .selectFrom('automatic_tests')
    .select('next_look_at')
    .where('org_id', '=', due.org_id)
    .where('object_id', '=', due.object_id)
    .where('test', '=', due.test)
    .where('automatic', '=', true)
    .executeTakeFirst()
  return row != null && msOfDatabase(row.next_look_at ?? '') === msOfDatabase(due.next_look_at)
}

/** Stores when the test is looked at next, and the refusal of a move. Does nothing for a test that is off. */
export async function storeLook(
  db: Kysely<Tables>,
  { org_id, object_id, test }: StoredTest,
  { next_ms, refused }: { readonly next_ms: number; readonly refused: string | null },
): Promise<void> {
  await db
    .updateTable('automatic_tests')
    .set({ next_look_at: new Date(next_ms).toISOString(), refused })
    .where('org_id', '=', org_id)
    .where('object_id', '=', object_id)
    .where('test', '=', test)
    .where('automatic', '=', true)
    .execute()
}

/** Stores a move. */
export async function storeMove(
  db: Kysely<Tables>,
  { org_id, object_id, test }: StoredTest,
  { act_id, version, moved_ms }: WeightMove,
): Promise<void> {
  await db
    .insertInto('weight_moves')
    .values({ org_id, object_id, test, act_id, version, moved_at: new Date(moved_ms).toISOString() })
    .execute()
}
