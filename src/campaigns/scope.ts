/** What a key restricted to campaigns may touch. */
import { refuse } from '../contract/refusals.ts'
import type { Key, Member } from '../room.ts'

/** True for a member, for a key without a list, and for a campaign on the key's list; never for "no campaign". */
export function isInScope(actor: Member | Key, campaign_id: string | null): boolean {
  if (actor.kind === 'member' || actor.campaigns === null) return true
  return campaign_id !== null && actor.campaigns.includes(campaign_id)
}

/** Refuses `campaign_scope_forbidden` unless the actor may touch what belongs to this campaign, or to none. */
export function requireScope(actor: Member | Key, campaign_id: string | null): void {
  if (!isInScope(actor, campaign_id)) refuse('campaign_scope_forbidden')
}
