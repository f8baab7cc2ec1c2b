/** Each role in one sentence, for the screens. */
import type { Role } from '../../../contract/endpoint.ts'

export const ROLE_WORDS: Record<Role, string> = {
  owner: 'Can do everything, including deleting the workspace.',
  admin:
    'Can do everything except what only owners can: change the workspace itself, its owners and the price per person.',
  member: 'Can see everything except the networks’ secret postback URLs, and change nothing. Their keys are refused.',
}
