/** Shares of landings and offers in the funnel of a campaign. Reads `campaigns` and `funnels`. */
import type { Kysely } from 'kysely'
import { toUuid } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { membersOf, MOST_WEIGHT as ALL, weightFor, withWeights } from '../own-acts/funnel-members.ts'
import type { JudgedObject } from './figures.ts'

/** The weights with a new share for one member; the others keep their proportions. Undefined if they are so already. */
function withShare(weights: readonly number[], at: number, share: number): number[] | undefined {
  if (weights.length < 2) return undefined
  const others = weights.reduce((sum, weight, place) => (place === at ? sum : sum + weight), 0)
  // They add up to ALL, so that a share is exact to a hundredth of a percent.
  const changed = weights.map((weight, place) =>
    weightFor(place === at ? share * ALL : (weight / others) * (1 - share) * ALL),
  )
  const shares = (all: readonly number[]) => all.map(weight => weight / all.reduce((sum, each) => sum + each, 0))
  const [before, after] = [shares(weights), shares(changed)]
  return before.every((old, place) => Math.abs(old - (after[place] ?? 0)) < 1 / ALL) ? undefined : changed
}

/**
 * The change of the campaign's funnel that gives a landing or an offer its share. Undefined if the campaign has no funnel with it, if it is the only
 * member, or if it has the share.
 */
export async function sharedFunnel(
  db: Kysely<Tables>,
  org_id: number,
  { campaign_id, field, value }: JudgedObject,
  share: number,
): Promise<{ readonly funnel_id: string; readonly body: Record<string, unknown> } | undefined> {
  const campaign = await db
    .selectFrom('campaigns')
    .select('destination')
    .where('org_id', '=', org_id)
    .where('id', '=', campaign_id)
    .executeTakeFirst()
  const { funnel_id } = (campaign?.destination ?? {}) as { funnel_id?: string }
  if (funnel_id === undefined) return undefined
  const of = field === 'landing' ? 'landings' : 'offers'
  const members = await membersOf(db, org_id, funnel_id, of)
  const wanted = toUuid(value ?? '')
  const at = members.findIndex(({ id }) => toUuid(id) === wanted)
  if (at < 0) return undefined
  const weights = withShare(
    members.map(({ weight }) => weight),
    at,
    share,
  )
  return weights === undefined ? undefined : { funnel_id, body: withWeights(of, members, weights) }
}
