// An organization ready for traffic and conversions.
import type { Database } from '../../src/ground/db/connect.ts'
import { newId, seedKey, seedOrganization } from './house.ts'

/** An organization with a campaign of this key that reads costs from its link, an offer worth 2.50 with a cap, a rule for ftd, and an API key for conversions and the feed. */
export async function seedPlace(
  database: Database,
  campaign: string,
  /** The URL the rule calls; by default nothing listens there. */
  receiver = 'http://127.0.0.1:9',
): Promise<{ key: string; campaign: string; org_id: number }> {
  const db = database.kysely
  const place = await seedOrganization(database, { balance: '100' })
  const { org_id } = place
  const now = new Date().toISOString()
  const [offer_id, campaign_id] = [newId(), newId()]
  await db
    .insertInto('offers')
    .values({
      org_id,
      id: offer_id,
      name: 'Offer',
      url: 'https://example.com/',
      payout: '2.50',
      payout_types: [],
      status: 'active',
      created_at: now,
      updated_at: now,
    })
    .execute()
  await db
    .insertInto('campaigns')
    .values({
      org_id,
      id: campaign_id,
      name: 'Campaign',
      key: campaign,
      destination: JSON.stringify({ type: 'redirect', url: 'https://example.com/?c={click_id}' }),
      offer_id,
      source: '{}',
      cost: JSON.stringify({ model: 'link', amount: null, currency: 'USD', max: '10' }),
      strict_filter: false,
      created_at: now,
      updated_at: now,
    })
    .execute()
  await seedCap(database, org_id, offer_id)
  await db.insertInto('campaign_keys').values({ key: campaign, org_id, campaign_id }).execute()
  await db
    .insertInto('postback_rules')
    .values({
      org_id,
      id: newId(),
      event_type: 'ftd',
      url: `${receiver}/hook?e={event_id}`,
      method: 'GET',
      active: true,
      created_at: now,
      updated_at: now,
    })
    .execute()
  return { key: (await seedKey(database, place, { rights: ['events', 'clicks'] })).secret, campaign, org_id }
}

/** A cap on conversions that is never reached, so that every conversion is counted for it. */
async function seedCap({ kysely }: Database, org_id: number, object_id: string): Promise<void> {
  const now = new Date().toISOString()
  const counts = {
    metric: 'conversions',
    event_types: ['lead', 'ftd'] as string[],
    limit: 1_000_000_000,
    period: 'total',
  } as const
  const row = { org_id, id: newId(), object: 'offer', object_id, ...counts, timezone: 'UTC', when_unknown: 'closed' }
  await kysely
    .insertInto('caps')
    .values({ ...row, active: true, created_at: now, updated_at: now })
    .execute()
}
