/**
 * The state of the grant editor and what follows from it: which rights a save would add and remove, which ones a campaign list
 * blocks, and whether DELETE must be typed. All functions are pure; the dialog only draws the result.
 */
import type { z } from 'zod'
import { ALL_RIGHTS, isRight, RIGHTS, type Right, rightsOf, TIERS } from '../../../contract/rights.ts'
import type { Grant, GrantDraft } from '../../../people/keys/api.ts'

export type HeldGrant = z.input<typeof Grant>
export type GrantedCampaign = { id: string; name: string; deleted?: boolean }

export type GrantChoice = {
  readonly organization_id: string
  readonly rights: ReadonlySet<Right>
  /** Undefined means every campaign. A list, even an empty one, means only these. */
  readonly campaigns: readonly GrantedCampaign[] | undefined
}

export function heldRights(held: HeldGrant): Set<Right> {
  return new Set(TIERS.flatMap(tier => held[tier]).filter(isRight))
}

/** Whether the right cannot be combined with the chosen list of campaigns. */
export function isBlocked(choice: GrantChoice, right: Right): boolean {
  return choice.campaigns !== undefined && RIGHTS[right].reach === 'organization'
}

/** The ticked rights that can be saved. Rights blocked by a campaign list stay ticked, so that they return when the list is removed. */
function chosenRights(choice: GrantChoice): Right[] {
  return ALL_RIGHTS.filter(right => choice.rights.has(right) && !isBlocked(choice, right))
}

export type GrantDifference = { added: Right[]; removed: Right[]; addedDeletes: Right[]; blocked: Right[] }

export function difference(held: HeldGrant, choice: GrantChoice): GrantDifference {
  const before = heldRights(held)
  const after = new Set(chosenRights(choice))
  const added = ALL_RIGHTS.filter(right => after.has(right) && !before.has(right))
  return {
    added,
    removed: ALL_RIGHTS.filter(right => before.has(right) && !after.has(right)),
    addedDeletes: added.filter(right => RIGHTS[right].tier === 'delete'),
    blocked: ALL_RIGHTS.filter(right => choice.rights.has(right) && isBlocked(choice, right)),
  }
}

/** Why the choice cannot be saved yet. Undefined when it can. */
export function obstacle(choice: GrantChoice, { addedDeletes }: GrantDifference, typed: string): string | undefined {
  if (choice.organization_id === '') return 'Choose a workspace first.'
  if (choice.campaigns?.length === 0) return 'Choose at least one campaign, or allow every campaign.'
  if (addedDeletes.length > 0 && typed !== 'DELETE') return 'Type DELETE to add rights of the delete tier.'
  return undefined
}

/** Whether the key may report conversions now, by its right or because it is fresh, and could no longer after the save. */
export function stopsConversions(held: HeldGrant, choice: GrantChoice): boolean {
  const mayReportNow = held.state === 'fresh' || held.write.includes('events')
  return mayReportNow && !choice.rights.has('events')
}

export function grantDraftOf(choice: GrantChoice, typed: string): z.input<typeof GrantDraft> {
  const rights = new Set(chosenRights(choice))
  const tier = (name: (typeof TIERS)[number]) => rightsOf(name).filter(right => rights.has(right))
  return {
    organization_id: choice.organization_id,
    read: tier('read'),
    write: tier('write'),
    delete: tier('delete'),
    campaigns: choice.campaigns?.map(campaign => campaign.id) ?? null,
    ...(typed === '' ? {} : { confirmation: typed }),
  }
}

export const GRANT_PRESETS: readonly { name: string; rights: readonly Right[] }[] = [
  { name: 'Report conversions', rights: ['events'] },
  { name: 'Read only', rights: rightsOf('read') },
  { name: 'Everything but delete', rights: [...rightsOf('read'), ...rightsOf('write')] },
]
