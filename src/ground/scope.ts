/** Keys that are restricted to a list of campaigns. */
import { refuse } from '../contract/refusals.ts'
import type { Key, Member } from './room.ts'

/** Whether a click of this campaign, or of none (null), is outside a key's list. A key without a list (null) has nothing outside. */
export function isOutside(campaigns: readonly string[] | null, campaign_id: string | null): boolean {
  return campaigns !== null && (campaign_id === null || !campaigns.includes(campaign_id))
}

/** True for a member, for a key without a list, and for a campaign on the key's list; never for "no campaign". */
export function isInScope(actor: Member | Key, campaign_id: string | null): boolean {
  return actor.kind === 'member' || !isOutside(actor.campaigns, campaign_id)
}

/** Refuses `campaign_scope_forbidden` unless the actor may touch the objects of this campaign, or of none (null). */
export function requireScope(actor: Member | Key, campaign_id: string | null): void {
  if (!isInScope(actor, campaign_id)) refuse('campaign_scope_forbidden')
}
