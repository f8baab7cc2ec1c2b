/**
 * People, their sign-in and their sessions, as the browser sees them. Under `/api/auth/*` the fields are the sign-in library's
 * (camelCase), and its refusals come as everywhere, `{ error, code }`, with its own codes (`INVALID_PASSWORD`). `AUTH_FORMS` holds
 * what may be sent there; any other path is a 404.
 */
import { z } from 'zod'
import { endpoint } from '../contract/endpoint.ts'
import { Done, Id, Instant, Name, Page } from '../contract/fields.ts'
import { Email, NewPassword } from './forms.ts'
import { CHANGING_PARTS, READING_PARTS } from './sign-in-parts.ts'

export * from './forms.ts'

export const askSignIn = endpoint({
  route: 'GET /api/auth/*',
  access: 'anyone',
  visit: true,
  summary: 'Who is signed in',
  parts: READING_PARTS,
})

export const signIn = endpoint({
  route: 'POST /api/auth/*',
  access: 'anyone',
  visit: true,
  summary: 'Sign up, in and out; change what belongs to the account',
  parts: CHANGING_PARTS,
})

/** `needs_owner`: nobody has an account yet, so the first page creates the owner. */
export const Setup = z.object({ needs_owner: z.boolean(), sign_up: z.enum(['invite', 'open']) })

export const readSetup = endpoint({
  route: 'GET /api/setup',
  access: 'anyone',
  summary: 'Whether this installation still needs its owner, and how others sign up',
  reply: Setup,
})

/** The form of the very first page. */
export const FirstOwner = z.object({ name: Name(), email: Email, password: NewPassword, organization: Name() })

export const createOwner = endpoint({
  route: 'POST /api/setup',
  access: 'anyone',
  visit: true,
  summary: 'Create the first account with its organization, and sign in',
  description: 'Works once in the life of an installation. Sets the session cookie.',
  body: FirstOwner,
  reply: z.object({ user_id: Id, organization_id: Id }),
  status: 201,
  headers: ['Set-Cookie'],
  refuses: ['invalid_request', 'setup_done', 'service_unavailable'],
})

/** A browser somebody is signed in with. `current` is the one that asks. `last_seen_at` is exact to a day. */
export const Session = z.object({
  id: Id,
  created_at: Instant,
  last_seen_at: Instant,
  expires_at: Instant,
  ip_address: z.string().nullable(),
  user_agent: z.string().nullable(),
  current: z.boolean(),
})

export const listSessions = endpoint({
  route: 'GET /api/sessions',
  access: { session: 'person' },
  summary: 'The browsers you are signed in with',
  reply: Page(Session),
})

export const revokeSession = endpoint({
  route: 'DELETE /api/sessions/:id',
  access: { session: 'person' },
  summary: 'Sign one of your browsers out, at once',
  reply: Done,
  refuses: ['object_not_found'],
})
