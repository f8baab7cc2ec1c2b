/** The workspace this session acts in, the person's role there, and which buttons the role disables. */
import { useSuspenseQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import type { Endpoint, Role } from '../../contract/endpoint.ts'
import { readPreferences } from '../../people/accounts/api.ts'
import { listOrganizations, type Organization } from '../../people/organizations/api.ts'
import { ask } from './call.ts'

export type Workspace = z.input<typeof Organization>

export const myOrganizations = ask(listOrganizations)
export const myPreferences = ask(readPreferences)

export function useOrganizations(): Workspace[] {
  return useSuspenseQuery(myOrganizations).data.data
}

/** The active workspace. Only for pages inside the shell, which are not shown without one. */
export function useActive(): Workspace {
  const active = useOrganizations().find(one => one.active)
  if (active === undefined) throw new Error('no workspace is active')
  return active
}

const RANK: Record<Role, number> = { member: 0, admin: 1, owner: 2 }
const WHO: Record<Role, string> = { member: 'members', admin: 'owners and admins', owner: 'owners' }

/** Why this role may not call the endpoint, by the endpoint's own access; undefined if it may. */
export function reasonAgainst(endpoint: Endpoint, role: Role): string | undefined {
  const { access } = endpoint
  if (access === 'anyone' || access.session === undefined || access.session === 'person') return undefined
  return RANK[role] >= RANK[access.session] ? undefined : onlyFor(access.session, role)
}

export function onlyFor(needed: Role, role: Role): string {
  return `Only ${WHO[needed]} of the workspace can do this; you are ${role === 'member' ? 'a member' : `an ${role}`}.`
}
