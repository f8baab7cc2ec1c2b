// The organizations of the bench, with campaigns, offers, a rule and a key.
import type { Transaction } from 'kysely'
import { newId } from '../src/contract/ids.ts'
import type { Tables } from '../src/ground/db/tables.ts'
import { firstCharacters, hashSecret, newSecret } from '../src/people/keys/secret.ts'
import { insertOrganization } from '../src/people/organizations/organizations.ts'
import { costText, storedCost } from '../src/traffic/campaigns/cost.ts'
import type { BenchGround } from './ground.ts'

/** `key` is the secret of a key that can read clicks and the report, and record events. */
export type Organization = {
  org_id: number
  key: string
  campaigns: string[]
  campaignKeys: string[]
  offers: string[]
}

/** Per organization with a stock of clicks; the others have one of each. */
export const CAMPAIGNS = 24
export const OFFERS = 12

/** The owner of organizations of the bench. */
export async function createOwner({ database }: BenchGround, email = 'bench@example.com'): Promise<string> {
  const id = newId()
  const person = { id, name: 'Bench', email, email_verified: false }
  await database.kysely
    .insertInto('users')
    .values({ ...person, ...times() })
    .execute()
  return id
}

/** `cost` is the cost of each click of its campaigns, in US dollars. */
type Wide = { campaigns?: number; offers?: number; cost?: string | null }

/** An organization with a key, campaigns that redirect, offers that pay, and one rule that calls `postback` at every lead. */
export async function createOrganization(
  { database, config }: BenchGround,
  user_id: string,
  { campaigns = 1, offers = 1, cost = null, postback }: Wide & { postback: string },
): Promise<Organization> {
  return database.kysely.transaction().execute(async trx => {
    const { org_id } = await insertOrganization(trx, config, { name: 'Bench', user_id })
    const key = await grantKey(trx, org_id, user_id)
    const offerIds = await createOffers(trx, org_id, offers)
    const made = await createCampaigns(trx, org_id, { campaigns, cost }, offerIds)
    await trx
      .insertInto('postback_rules')
      .values({
        org_id,
        id: newId(),
        event_type: 'lead',
        url: `${postback}?click={click_id}&type={event_type}&sub1={sub1}`,
        method: 'GET',
        active: true,
        ...times(),
      })
      .execute()
    return { org_id, key, offers: offerIds, ...made }
  })
}

const times = () => {
  const now = new Date().toISOString()
  return { created_at: now, updated_at: now }
}

async function grantKey(trx: Transaction<Tables>, org_id: number, user_id: string): Promise<string> {
  const secret = newSecret()
  const id = newId()
  const { created_at } = times()
  const stored = { hash: hashSecret(secret), first_characters: firstCharacters(secret), created_at, enabled: true }
  await trx
    .insertInto('api_keys')
    .values({ id, user_id, name: 'Bench', ...stored })
    .execute()
  const rights = { read: ['clicks', 'report'], write: ['events'], delete: [] }
  await trx
    .insertInto('api_key_grants')
    .values({ key_id: id, org_id, ...rights, saved_at: created_at, saved_by: user_id })
    .execute()
  return secret
}

async function createOffers(trx: Transaction<Tables>, org_id: number, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId())
  const offer = { url: 'https://offer.example/', payout: '12.5', payout_types: [], status: 'active', ...times() }
  await trx
    .insertInto('offers')
    .values(ids.map((id, at) => ({ org_id, id, name: `Offer ${at + 1}`, ...offer })))
    .execute()
  return ids
}

async function createCampaigns(
  trx: Transaction<Tables>,
  org_id: number,
  { campaigns: count, cost }: { campaigns: number; cost: string | null },
  offers: readonly string[],
) {
  const campaigns = Array.from({ length: count }, () => newId())
  const keyOf = (id: string) => `bench-${id.replaceAll('-', '').slice(14)}`
  const url = 'https://offer.example/landing?click={click_id}&creative={sub1}'
  const model = cost === null ? null : storedCost({ model: 'cpc', amount: cost })
  const campaign = {
    destination: JSON.stringify({ type: 'redirect', url }),
    source: '{}',
    strict_filter: false,
    cost: costText(model),
  }
  const rows = campaigns.map((id, at) => ({
    org_id,
    id,
    name: `Campaign ${at + 1}`,
    key: keyOf(id),
    offer_id: offers[at % offers.length] ?? null,
    ...campaign,
    ...times(),
  }))
  await trx.insertInto('campaigns').values(rows).execute()
  await trx
    .insertInto('campaign_keys')
    .values(campaigns.map(campaign_id => ({ org_id, campaign_id, key: keyOf(campaign_id) })))
    .execute()
  return { campaigns, campaignKeys: campaigns.map(keyOf) }
}
