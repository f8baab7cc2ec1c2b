/** The routes below `/api/auth`, as the documents show them: two wildcards lead to all of them. */
import { z } from 'zod'
import { endpoint, type Endpoint } from '../contract/endpoint.ts'
import { Id, Instant } from '../contract/fields.ts'
import {
  EmailChange,
  PasswordChange,
  PasswordReset,
  PasswordResetRequest,
  Profile,
  SessionEnd,
  SignIn,
  SignUp,
} from './forms.ts'

const User = z.object({
  id: Id,
  name: z.string(),
  email: z.string(),
  emailVerified: z.boolean(),
  image: z.string().nullable(),
  createdAt: Instant,
  updatedAt: Instant,
})
const OpenSession = z.object({
  id: Id,
  userId: Id,
  createdAt: Instant,
  updatedAt: Instant,
  expiresAt: Instant,
  ipAddress: z.string().nullable(),
  userAgent: z.string().nullable(),
})
const SignedIn = z.object({ redirect: z.literal(false), user: User })
const Ended = z.object({ status: z.literal(true) })

const anyone = { access: 'anyone', visit: true } as const
const person = { access: { session: 'person' }, visit: true } as const
const wrongPassword = { 400: { words: 'the current password is wrong (`INVALID_PASSWORD`)', type: 'refusal' } } as const

export const READING_PARTS = {
  readSignIn: endpoint({
    ...anyone,
    route: 'GET /api/auth/get-session',
    summary: 'Who is signed in, or null',
    reply: z.object({ session: OpenSession, user: User }).nullable(),
    headers: ['Set-Cookie'],
    refuses: ['service_unavailable'],
  }),
  listOpenSessions: endpoint({
    ...person,
    route: 'GET /api/auth/list-sessions',
    summary: 'The sessions of who is signed in; `GET /api/sessions` says more',
    reply: z.array(OpenSession.extend({ token: z.string().meta({ description: 'What revoke-session takes' }) })),
    refuses: ['service_unavailable'],
  }),
} as const satisfies Record<string, Endpoint>

export const CHANGING_PARTS = {
  signUpWithEmail: endpoint({
    ...anyone,
    route: 'POST /api/auth/sign-up/email',
    summary: 'Make an account, and sign in',
    body: SignUp,
    reply: SignedIn,
    headers: ['Set-Cookie'],
    refuses: ['sign_up_closed', 'invitation_invalid', 'already_exists', 'rate_limited', 'service_unavailable'],
  }),
  signInWithEmail: endpoint({
    ...anyone,
    route: 'POST /api/auth/sign-in/email',
    summary: 'Sign in',
    body: SignIn,
    reply: SignedIn,
    headers: ['Set-Cookie'],
    answers: { 401: { words: 'address or password is wrong (`INVALID_EMAIL_OR_PASSWORD`)', type: 'refusal' } },
    refuses: ['rate_limited', 'service_unavailable'],
  }),
  signOut: endpoint({
    ...anyone,
    route: 'POST /api/auth/sign-out',
    summary: 'End this session',
    reply: z.object({ success: z.literal(true) }),
    headers: ['Set-Cookie'],
    refuses: ['service_unavailable'],
  }),
  changePassword: endpoint({
    ...person,
    route: 'POST /api/auth/change-password',
    summary: 'Change the password; every other session ends',
    body: PasswordChange,
    reply: z.object({ user: User }),
    headers: ['Set-Cookie'],
    answers: wrongPassword,
    refuses: ['rate_limited', 'service_unavailable'],
  }),
  changeEmail: endpoint({
    ...person,
    route: 'POST /api/auth/change-email',
    summary: 'Change the address of the account',
    description: 'Needs the current password unless the session is younger than ten minutes.',
    body: EmailChange,
    reply: Ended,
    headers: ['Set-Cookie'],
    answers: {
      400: {
        words: 'the current password is wrong (`INVALID_PASSWORD`) or needed (`PASSWORD_REQUIRED`)',
        type: 'refusal',
      },
    },
    refuses: ['already_exists', 'rate_limited', 'service_unavailable'],
  }),
  updateProfile: endpoint({
    ...person,
    route: 'POST /api/auth/update-user',
    summary: 'Change name or picture',
    body: Profile,
    reply: Ended,
    headers: ['Set-Cookie'],
    refuses: ['service_unavailable'],
  }),
  revokeOpenSession: endpoint({
    ...person,
    route: 'POST /api/auth/revoke-session',
    summary: 'End one session',
    body: SessionEnd,
    reply: Ended,
    refuses: ['object_not_found', 'service_unavailable'],
  }),
  revokeOtherSessions: endpoint({
    ...person,
    route: 'POST /api/auth/revoke-other-sessions',
    summary: 'End every session but this one',
    reply: Ended,
    refuses: ['service_unavailable'],
  }),
  requestPasswordReset: endpoint({
    ...anyone,
    route: 'POST /api/auth/request-password-reset',
    summary: 'Have a link for a new password sent; the answer is the same where the address has no account',
    body: PasswordResetRequest,
    reply: Ended.extend({ message: z.string() }),
    refuses: ['rate_limited', 'service_unavailable'],
  }),
  resetPassword: endpoint({
    ...anyone,
    route: 'POST /api/auth/reset-password',
    summary: "Set a new password with the token of the mail's link; every session ends",
    body: PasswordReset,
    reply: Ended,
    answers: { 400: { words: 'the token is wrong or too old (`INVALID_TOKEN`)', type: 'refusal' } },
    refuses: ['rate_limited', 'service_unavailable'],
  }),
} as const satisfies Record<string, Endpoint>
