/** What a campaign names must be there when it is named: its destination, its offer, its ad account. Owns no table. */
import type { Kysely } from 'kysely'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type * as api from './api.ts'

/**
 * What a campaign leads to must be there; of click flows also those that are not published yet; one that is archived may only stay.
 * Refuses `invalid_request`.
 */
export async function requireDestination(
  db: Kysely<Tables>,
  org_id: number,
  destination: api.CampaignDraft['destination'],
  before?: api.Campaign['destination'],
): Promise<void> {
  if (destination.type === 'click_flow') {
    const isKept = before?.type === 'click_flow' && before.click_flow_id === destination.click_flow_id
    return await requireFlow(db, org_id, destination.click_flow_id, isKept)
  }
  if (destination.type !== 'funnel') return
  const funnel = await db
    .selectFrom('funnels')
    .select('id')
    .where('org_id', '=', org_id)
    .where('id', '=', destination.funnel_id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (funnel === undefined) refuse('invalid_request', { error: 'destination.funnel_id: no such funnel' })
}

async function requireFlow(db: Kysely<Tables>, org_id: number, id: string, isKept: boolean): Promise<void> {
  const flow = await db
    .selectFrom('click_flows')
    .select('status')
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (flow === undefined) refuse('invalid_request', { error: 'destination.click_flow_id: no such click flow' })
  if (flow.status === 'archived' && !isKept)
    refuse('invalid_request', {
      error: 'destination.click_flow_id: the click flow is archived',
      hint: 'Pause or publish it first.',
    })
}

/** Refuses `invalid_request` for an ad account that is not there. Asked between conversions: it is disconnected there too, and not meanwhile. */
export async function requireAdAccount(
  db: Kysely<Tables>,
  org_id: number,
  id: string | null | undefined,
): Promise<void> {
  if (id == null) return
  const account = await db
    .selectFrom('ad_accounts')
    .select('id')
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (account === undefined) refuse('invalid_request', { error: 'ad_account_id: no such ad account' })
}

/** Refuses `invalid_request` for an offer that is not there or archived. */
export async function requireOffer(db: Kysely<Tables>, org_id: number, id: string | null | undefined): Promise<void> {
  if (id == null) return
  const offer = await db
    .selectFrom('offers')
    .select('status')
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (offer === undefined) refuse('invalid_request', { error: 'offer_id: no such offer' })
  if (offer.status !== 'active')
    refuse('invalid_request', { error: 'offer_id: the offer is archived', hint: 'Unarchive it first.' })
}
