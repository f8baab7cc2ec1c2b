/** The tests of a funnel: its landings and its offers. Reads `funnels`, `landings`, `offers`, `history` and `weight_moves`. */
import { type Kysely, sql } from 'kysely'
import { toWireId } from '../../contract/ids.ts'
import { msOfDatabase } from '../../contract/moments.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { movesOf } from '../../traffic/automatic-weights/moves.ts'
import type { ObjectTest } from './object-test.ts'

/** Refuses `object_not_found`. */
export async function testsOfFunnel(db: Kysely<Tables>, org_id: number, id: string): Promise<ObjectTest[]> {
  const funnel = await db
    .selectFrom('funnels')
    .select(['id', 'landings', 'offers', 'created_at'])
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (funnel === undefined) refuse('object_not_found')
  return [await membersTest(db, org_id, funnel, 'landings'), await membersTest(db, org_id, funnel, 'offers')].flatMap(
    test => test ?? [],
  )
}

type FunnelRow = Pick<Tables['funnels'], 'id' | 'landings' | 'offers' | 'created_at'>

async function membersTest(db: Kysely<Tables>, org_id: number, funnel: FunnelRow, of: 'landings' | 'offers') {
  const column = of === 'landings' ? 'landing_id' : 'offer_id'
  const members = funnel[of] as unknown as { landing_id?: string; offer_id?: string; weight: number }[]
  const ids = members.flatMap(member => member[column] ?? [])
  if (ids.length < 2) return undefined
  const open = await db
    .selectFrom(of)
    .select(['id', 'name'])
    .where('org_id', '=', org_id)
    .where('id', 'in', ids)
    .where('status', '=', 'active')
    .where('deleted_at', 'is', null)
    .execute()
  const names = new Map(open.map(({ id, name }) => [id, name]))
  const variants = members.flatMap(({ weight, [column]: id = '' }) => {
    const name = names.get(id)
    return name === undefined ? [] : [{ id: toWireId(id), key: id, name, weight }]
  })
  if (variants.length < 2) return undefined
  const begun = await begunAt(db, org_id, funnel, of)
  return {
    of,
    id: of,
    node: null,
    variant: `c.${column}::text`,
    variants,
    waits_for: null,
    ...begun,
  } satisfies ObjectTest
}

/**
 * When the members or weights last changed other than by a move, by the history; before it began, when the funnel was created. And the moves since
 * then, in order.
 */
async function begunAt(
  db: Kysely<Tables>,
  org_id: number,
  { id, created_at }: Pick<FunnelRow, 'id' | 'created_at'>,
  field: 'landings' | 'offers',
): Promise<Pick<ObjectTest, 'since_ms' | 'moves_ms' | 'last_move_ms'>> {
  const moves = await movesOf(db, org_id, id, field)
  let changes = db
    .selectFrom('history')
    .select('created_at')
    .where('org_id', '=', org_id)
    .where('kind', '=', 'funnel')
    .where('object_id', '=', id)
    .where(sql<boolean>`exists (select from json_array_elements(fields) field where field ->> 'name' = ${field})`)
  if (moves.length > 0)
    changes = changes.where(
      'act_id',
      'not in',
      moves.map(({ act_id }) => act_id),
    )
  const changed = await changes.orderBy('created_at', 'desc').limit(1).executeTakeFirst()
  const since_ms = msOfDatabase(changed?.created_at ?? created_at)
  const times = moves.map(({ moved_ms }) => moved_ms).toReversed()
  return { since_ms, moves_ms: times.filter(ms => ms > since_ms), last_move_ms: times.at(-1) }
}
