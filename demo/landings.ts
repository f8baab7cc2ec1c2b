// The landing pages of a campaign that has some, and the funnel that shares its visitors among them.
import type { Transaction } from 'kysely'
import { choose, compileFunnel } from '../src/funnels/choose.ts'
import { hashOf } from '../src/stable-hash.ts'
import { newId } from '../src/contract/ids.ts'
import type { Tables } from '../src/db/tables.ts'
import type { DemoLanding } from './world.ts'

/** A funnel as it stands in the organization, and which landing a visitor gets of it. */
export type PlacedFunnel = { funnel_id: string; landingOf(visitor: string): string | null }

type Times = { created_at: string; updated_at: string }

/** Makes landings and a funnel of them with the one offer. Visitors get the same landing as they would of the running service. */
export async function placeFunnel(
  trx: Transaction<Tables>,
  org_id: number,
  { name, landings, offer_id }: { name: string; landings: readonly DemoLanding[]; offer_id: string },
  times: Times,
): Promise<PlacedFunnel> {
  const made = Date.parse(times.created_at)
  const rows = landings.map(({ name, path, weight }) => ({
    id: newId(made),
    name,
    url: `https://pages.example/${path}?click_id={click_id}`,
    weight,
  }))
  await trx
    .insertInto('landings')
    .values(rows.map(({ id, name, url }) => ({ org_id, id, name, url, status: 'active', ...times })))
    .execute()
  const id = newId(made)
  const shares = rows.map(({ id, weight }) => ({ landing_id: id, weight }))
  const offers = [{ offer_id, weight: 1 }]
  await trx
    .insertInto('funnels')
    .values({ org_id, id, name, landings: JSON.stringify(shares), offers: JSON.stringify(offers), ...times })
    .execute()
  const compiled = compileFunnel({ org_id, id, landings: shares, offers, is_deleted: false })
  const live = {
    object: (_kind: string, id: string) => ({ org_id, id, url: '', status: 'active', is_deleted: false }) as never,
  }
  return {
    funnel_id: id,
    landingOf: visitor => choose(compiled.landings, hashOf(visitor), 'landing', live)?.id ?? null,
  }
}
