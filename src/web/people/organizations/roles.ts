/** What each role means, in one line. */
import type { Role } from '../../../contract/endpoint.ts'

export const ROLE_WORDS: Record<Role, string> = {
  owner: 'Everything, the deletion of the workspace included.',
  admin: 'Everything but what only owners decide: the workspace itself, its owners and what a person costs.',
  member: 'Sees everything but the secret addresses of networks, and changes nothing. Keys of members are refused.',
}
