/** What each role means, in one line. */
import type { Role } from '../../../contract/endpoint.ts'

export const ROLE_WORDS: Record<Role, string> = {
  owner: 'Everything, the deletion of the workspace and billing included.',
  admin: 'Everything but the workspace itself and billing.',
  member: 'Sees everything but the secret addresses of networks, and changes nothing. Keys of members are refused.',
}
