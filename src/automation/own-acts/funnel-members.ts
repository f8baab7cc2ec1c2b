/** The members of a funnel with their weights, and the change that gives them others. Reads `funnels`. */
import type { Kysely } from 'kysely'
import { toWireId } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'

type MembersOf = 'landings' | 'offers'
/** `id` is a wire id. */
export type FunnelMember = { readonly id: string; readonly weight: number }

/** The largest weight that the endpoint takes. */
export const MOST_WEIGHT = 10_000
const COLUMNS = { landings: 'landing_id', offers: 'offer_id' } as const

/** The landings or the offers; none if the funnel was deleted. */
export async function membersOf(
  db: Kysely<Tables>,
  org_id: number,
  funnel_id: string,
  of: MembersOf,
): Promise<FunnelMember[]> {
  const funnel = await db
    .selectFrom('funnels')
    .select(of)
    .where('org_id', '=', org_id)
    .where('id', '=', funnel_id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  const members = (funnel?.[of] ?? []) as unknown as Record<string, unknown>[]
  return members.map(member => ({ id: toWireId(String(member[COLUMNS[of]])), weight: Number(member['weight']) }))
}

/** The nearest weight that the endpoint takes. */
export const weightFor = (weight: number): number => Math.min(MOST_WEIGHT, Math.max(1, Math.round(weight)))

/** The body of the change: the same members with these weights. */
export const withWeights = (of: MembersOf, members: readonly FunnelMember[], weights: readonly number[]) => ({
  [of]: members.map(({ id }, at) => ({ [COLUMNS[of]]: id, weight: weights[at] })),
})
