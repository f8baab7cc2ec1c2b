/** Shares of landings and offers in the funnel of a campaign. Reads `campaigns` and `funnels`. */
import type { Kysely } from 'kysely'
import { toUuid, toWireId } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { JudgedObject } from './figures.ts'

type Member = { readonly landing_id?: string; readonly offer_id?: string; readonly weight: number }
/** The weights of a funnel add up to this, so that a share is exact to a hundredth of a percent. */
const ALL = 10_000

/** The weights with a new share for one member; the others keep their proportions. Undefined if they are so already. */
function withShare(weights: readonly number[], at: number, share: number): number[] | undefined {
  if (weights.length < 2) return undefined
  const others = weights.reduce((sum, weight, place) => (place === at ? sum : sum + weight), 0)
  const whole = (weight: number) => Math.min(ALL, Math.max(1, Math.round(weight)))
  const changed = weights.map((weight, place) =>
    whole(place === at ? share * ALL : (weight / others) * (1 - share) * ALL),
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
  const funnel = await db
    .selectFrom('funnels')
    .select(['landings', 'offers'])
    .where('org_id', '=', org_id)
    .where('id', '=', funnel_id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  const [members, name] = field === 'landing' ? [funnel?.landings, 'landing_id'] : [funnel?.offers, 'offer_id']
  const list = (members ?? []) as Member[]
  const idOf = (member: Member) => (field === 'landing' ? member.landing_id : member.offer_id) ?? ''
  const wanted = toUuid(value ?? '')
  const at = list.findIndex(member => idOf(member) === wanted)
  const weights =
    at < 0
      ? undefined
      : withShare(
          list.map(({ weight }) => weight),
          at,
          share,
        )
  if (weights === undefined) return undefined
  const changed = list.map((member, place) => ({ [name]: toWireId(idOf(member)), weight: weights[place] }))
  return { funnel_id, body: field === 'landing' ? { landings: changed } : { offers: changed } }
}
