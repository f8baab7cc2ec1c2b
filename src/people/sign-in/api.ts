/**
 * The endpoints of signing up, in and out. Below `/api/auth/*` the fields are the sign-in library's (camelCase), and refusals are
 * `{ error, code }` as everywhere but with the library's codes, such as `INVALID_PASSWORD`. `AUTH_FORMS` lists the paths; any other
 * path is a 404.
 */
import { z } from 'zod'
import { type Endpoint, endpoint } from '../../contract/endpoint.ts'
import { Id, Instant, Name } from '../../contract/fields.ts'
import { SECOND_PARTS } from '../second-factor/api.ts'

export const PASSWORD_MIN = 10
export const PASSWORD_MAX = 128

const Email = z.string().trim().max(254).pipe(z.email()).meta({ format: 'email' })
const NewPassword = z.string().min(PASSWORD_MIN).max(PASSWORD_MAX)
const Password = z.string().min(1).max(PASSWORD_MAX)
const SetupCode = z.string().max(30).optional().meta({
  description:
    'Needed for the first account when BASE_URL is not on this machine. Sluice writes the code to its log at the start',
})

/**
 * `POST /api/auth/sign-up/email`. `invitation` is the secret at the end of an invitation's link and makes the person a member at once. Answers
 * `{ user }` and signs in. Refuses 403 `sign_up_closed` and `setup_code_wrong`, 409 `invitation_invalid` and `already_exists`.
 */
export const SignUp = z.object({
  name: Name(),
  email: Email,
  password: NewPassword,
  invitation: z.string().max(64).optional(),
  setup_code: SetupCode,
})
/** `POST /api/auth/sign-in/email`. Answers `{ user }` and sets the session cookie, or lists the possible second steps. 401 `INVALID_EMAIL_OR_PASSWORD`. */
export const SignIn = z.object({ email: Email, password: Password, rememberMe: z.boolean().optional() })
/** `POST /api/auth/change-password`. Ends every other session. 400 `INVALID_PASSWORD`. */
export const PasswordChange = z.object({ currentPassword: Password, newPassword: NewPassword })
/** `POST /api/auth/change-email`: mails a link to the new address. Needs the current password unless the session is young. 400 `INVALID_PASSWORD`. */
export const EmailChange = z.object({ newEmail: Email, currentPassword: Password.optional() })
/** `POST /api/auth/verify-email`: changes the address. The token is the one in the mailed link, `/confirm-email?token=…`. */
export const EmailProof = z.object({ token: z.string().min(1).max(2000) })
/** `POST /api/auth/update-user`: changes the name. `PUT /api/avatar` sets the picture. */
export const Profile = z.object({ name: Name() })
/** `POST /api/auth/request-password-reset`. Always answers 200, whether the address is known or not. */
export const PasswordResetRequest = z.object({ email: Email })
/** `POST /api/auth/reset-password`: sets a new password and ends every session. The token is the one in the mailed link, `/reset-password?token=…`. */
export const PasswordReset = z.object({ token: z.string().min(1).max(200), newPassword: NewPassword })

/** `POST /api/auth/revoke-session`. The token is the one in `list-sessions`, which is the session's id. */
export const SessionEnd = z.object({ token: z.string().min(1).max(64) })

/** The paths below `/api/auth`, each with the body it accepts. `get-session` answers `{ session, user }` or null. */
export const AUTH_FORMS = {
  'GET /get-session': undefined,
  'POST /sign-up/email': SignUp,
  'POST /sign-in/email': SignIn,
  'POST /sign-out': undefined,
  'POST /change-password': PasswordChange,
  'POST /change-email': EmailChange,
  'POST /verify-email': EmailProof,
  'POST /update-user': Profile,
  'GET /list-sessions': undefined,
  'POST /revoke-session': SessionEnd,
  'POST /revoke-other-sessions': undefined,
  'POST /request-password-reset': PasswordResetRequest,
  'POST /reset-password': PasswordReset,
} as const satisfies Record<string, z.ZodType | undefined>

const User = z
  .object({
    id: Id,
    name: z.string(),
    email: z.string(),
    emailVerified: z.boolean(),
    twoFactorEnabled: z.boolean().meta({ description: 'Whether signing in asks for a second factor' }),
    image: z.string().nullable(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .meta({ id: 'User' })
const OpenSession = z
  .object({
    id: Id,
    userId: Id,
    createdAt: Instant,
    updatedAt: Instant,
    expiresAt: Instant,
    ipAddress: z.string().nullable(),
    userAgent: z.string().nullable(),
  })
  .meta({ id: 'OpenSession' })
const SignedIn = z.object({ redirect: z.literal(false), user: User }).meta({ id: 'SignedIn' })
const SecondStep = z
  .object({
    twoFactorRedirect: z.literal(true),
    twoFactorMethods: z
      .array(z.enum(['totp', 'passkey', 'backup-code']))
      .meta({ description: 'The accepted second steps: a code from the app, a passkey, a recovery code' }),
  })
  .meta({ id: 'SecondStep' })
const AccountDone = z.object({ status: z.literal(true) }).meta({ id: 'AccountDone' })

const anyone = { access: 'anyone', visit: true } as const
const person = { access: { session: 'person' }, visit: true } as const
const wrongPassword = { 400: { words: 'the current password is wrong (`INVALID_PASSWORD`)', type: 'refusal' } } as const

const READING_PARTS = {
  readSignIn: endpoint({
    ...anyone,
    route: 'GET /api/auth/get-session',
    summary: 'Read the current session and person, or null',
    reply: z.object({ session: OpenSession, user: User }).nullable(),
    headers: ['Set-Cookie'],
    refuses: ['service_unavailable'],
  }),
  listOpenSessions: endpoint({
    ...person,
    route: 'GET /api/auth/list-sessions',
    summary: 'List your sessions. `GET /api/sessions` has more fields',
    reply: z.array(OpenSession.extend({ token: z.string().meta({ description: 'The token for revoke-session' }) })),
    refuses: ['service_unavailable'],
  }),
} as const satisfies Record<string, Endpoint>

const CHANGING_PARTS = {
  signUpWithEmail: endpoint({
    ...anyone,
    route: 'POST /api/auth/sign-up/email',
    summary: 'Create an account and sign in',
    body: SignUp,
    reply: SignedIn,
    headers: ['Set-Cookie'],
    refuses: [
      'sign_up_closed',
      'setup_code_wrong',
      'invitation_invalid',
      'already_exists',
      'rate_limited',
      'service_unavailable',
    ],
  }),
  signInWithEmail: endpoint({
    ...anyone,
    route: 'POST /api/auth/sign-in/email',
    summary:
      'Sign in. With a second factor it is the first of two steps, and the second must follow within ten minutes',
    body: SignIn,
    reply: z.union([SignedIn, SecondStep]),
    headers: ['Set-Cookie'],
    answers: { 401: { words: 'the address or the password is wrong (`INVALID_EMAIL_OR_PASSWORD`)', type: 'refusal' } },
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
    summary: 'Change the password and end every other session',
    body: PasswordChange,
    reply: z.object({ user: User }),
    headers: ['Set-Cookie'],
    answers: wrongPassword,
    refuses: ['rate_limited', 'service_unavailable'],
  }),
  changeEmail: endpoint({
    ...person,
    route: 'POST /api/auth/change-email',
    summary: 'Mail a link to a new address. The address changes when the link is opened',
    description:
      'Needs the current password unless the session is younger than ten minutes. Without a mail server (SMTP_URL) the address cannot be changed.',
    body: EmailChange,
    reply: AccountDone,
    answers: {
      400: {
        words: 'the current password is wrong (`INVALID_PASSWORD`) or missing (`PASSWORD_REQUIRED`)',
        type: 'refusal',
      },
    },
    refuses: ['already_exists', 'mail_needed', 'mail_failed', 'rate_limited', 'service_unavailable'],
  }),
  confirmEmail: endpoint({
    ...person,
    route: 'POST /api/auth/verify-email',
    summary: 'Change your address to the one that the token was mailed to',
    body: EmailProof,
    reply: AccountDone,
    headers: ['Set-Cookie'],
    answers: {
      400: { words: 'the token is wrong, expired or for another account (`INVALID_TOKEN`)', type: 'refusal' },
    },
    refuses: ['already_exists', 'service_unavailable'],
  }),
  updateProfile: endpoint({
    ...person,
    route: 'POST /api/auth/update-user',
    summary: 'Change your name',
    body: Profile,
    reply: AccountDone,
    headers: ['Set-Cookie'],
    refuses: ['service_unavailable'],
  }),
  revokeOpenSession: endpoint({
    ...person,
    route: 'POST /api/auth/revoke-session',
    summary: 'End one session',
    body: SessionEnd,
    reply: AccountDone,
    refuses: ['object_not_found', 'service_unavailable'],
  }),
  revokeOtherSessions: endpoint({
    ...person,
    route: 'POST /api/auth/revoke-other-sessions',
    summary: 'End every session but this one',
    reply: AccountDone,
    refuses: ['service_unavailable'],
  }),
  requestPasswordReset: endpoint({
    ...anyone,
    route: 'POST /api/auth/request-password-reset',
    summary: 'Mail a link for a new password. The answer is the same when the address has no account',
    body: PasswordResetRequest,
    reply: AccountDone.extend({ message: z.string() }),
    refuses: ['rate_limited', 'service_unavailable'],
  }),
  resetPassword: endpoint({
    ...anyone,
    route: 'POST /api/auth/reset-password',
    summary: 'Set a new password with the mailed token and end every session',
    body: PasswordReset,
    reply: AccountDone,
    answers: { 400: { words: 'the token is wrong or expired (`INVALID_TOKEN`)', type: 'refusal' } },
    refuses: ['rate_limited', 'service_unavailable'],
  }),
} as const satisfies Record<string, Endpoint>

export const askSignIn = endpoint({
  route: 'GET /api/auth/*',
  access: 'anyone',
  visit: true,
  summary: 'Read the current session',
  parts: READING_PARTS,
})

export const signIn = endpoint({
  route: 'POST /api/auth/*',
  access: 'anyone',
  history: { none: 'it belongs to a person, not to a workspace' },
  visit: true,
  summary: 'Sign up, in and out, and change the account',
  parts: { ...CHANGING_PARTS, ...SECOND_PARTS },
})

/** `needs_owner`: there is no account yet, so the dashboard opens the page that creates the owner. `needs_code`: that page asks for the setup code. */
export const Setup = z
  .object({ needs_owner: z.boolean(), needs_code: z.boolean(), sign_up: z.enum(['invite', 'open']) })
  .meta({ id: 'Setup' })

export const readSetup = endpoint({
  route: 'GET /api/setup',
  access: 'anyone',
  summary: 'Read whether this installation still needs its owner, and how others sign up',
  reply: Setup,
})

/** The form of the first account. */
export const FirstOwner = z.object({
  name: Name(),
  email: Email,
  password: NewPassword,
  organization: Name(),
  setup_code: SetupCode,
})

export const createOwner = endpoint({
  route: 'POST /api/setup',
  access: 'anyone',
  history: { none: 'it creates the installation’s first person and workspace' },
  visit: true,
  summary: 'Create the first account with its organization, and sign in',
  description:
    'Works once per installation. It needs the setup code when BASE_URL is not on this machine. Sets the session cookie.',
  body: FirstOwner,
  reply: z.object({ user_id: Id, organization_id: Id }),
  status: 201,
  headers: ['Set-Cookie'],
  refuses: ['invalid_request', 'setup_code_wrong', 'setup_done', 'rate_limited', 'service_unavailable'],
})
