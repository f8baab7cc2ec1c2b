/**
 * What is being ticked in the grant editor, and what follows from it: what would be added, what cannot be combined, what must be
 * typed. Pure, so that the dialog only draws it.
 */
import type { z } from 'zod'
import { ALL_RIGHTS, isRight, RIGHTS, type Right, rightsOf, TIERS } from '../../../contract/rights.ts'
import type { Grant, GrantDraft } from '../../../people/keys/api.ts'

export type Held = z.input<typeof Grant>
export type Campaign = { id: string; name: string; deleted?: boolean }

export type Choice = {
  readonly organization_id: string
  readonly rights: ReadonlySet<Right>
  /** Undefined: every campaign. A list, even while it is empty: only these. */
  readonly campaigns: readonly Campaign[] | undefined
}

export function heldRights(held: Held): Set<Right> {
  return new Set(TIERS.flatMap(tier => held[tier]).filter(isRight))
}

/** Whether a restriction to campaigns leaves the right out. */
export function isBlocked(choice: Choice, right: Right): boolean {
  return choice.campaigns !== undefined && RIGHTS[right].reach === 'organization'
}

/** The ticked rights that can be saved; ticks that a campaign list blocks come back when it is taken away. */
function chosenRights(choice: Choice): Right[] {
  return ALL_RIGHTS.filter(right => choice.rights.has(right) && !isBlocked(choice, right))
}

export type Difference = { added: Right[]; removed: Right[]; addedDeletes: Right[]; blocked: Right[] }

export function difference(held: Held, choice: Choice): Difference {
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

/** Why it cannot be saved yet, or undefined. */
export function obstacle(choice: Choice, { addedDeletes }: Difference, typed: string): string | undefined {
  if (choice.organization_id === '') return 'Choose a workspace first.'
  if (choice.campaigns?.length === 0) return 'Choose at least one campaign, or allow every campaign.'
  if (addedDeletes.length > 0 && typed !== 'DELETE') return 'Type DELETE to add rights of the delete tier.'
  return undefined
}

/** Whether the key reports conversions now, by its right or because it is fresh, and no longer would. */
export function stopsConversions(held: Held, choice: Choice): boolean {
  const now = held.state === 'fresh' || held.write.includes('events')
  return now && !choice.rights.has('events')
}

export function draftOf(choice: Choice, typed: string): z.input<typeof GrantDraft> {
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

export const PRESETS: readonly { name: string; rights: readonly Right[] }[] = [
  { name: 'Report conversions', rights: ['events'] },
  { name: 'Read only', rights: rightsOf('read') },
  { name: 'Everything but delete', rights: [...rightsOf('read'), ...rightsOf('write')] },
]
