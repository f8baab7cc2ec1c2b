/**
 * Second factors: an authenticator app, passkeys and recovery codes. The routes below `/api/auth/*` answer like the other sign-in routes, see
 * the sign-in room; `SECOND_FORMS` lists them with the bodies they accept.
 */
import { z } from 'zod'
import { type Endpoint, endpoint } from '../../contract/endpoint.ts'
import { Id, Instant, Name } from '../../contract/fields.ts'

const Password = z.string().min(1).max(128)

/** Six digits, with or without spaces. */
const AppCode = z
  .string()
  .max(20)
  .transform(typed => typed.replace(/\s/g, ''))
  .pipe(z.string().regex(/^\d{6}$/, { message: 'must be six digits' }))
  .meta({ description: 'The six digits that the app shows now', examples: ['493 812'] })

/** `POST /api/auth/two-factor/enable`: begins the setup of an app. It takes effect once a code of the app is confirmed. */
export const AppBegin = z.object({ password: Password })
/** `POST /api/auth/two-factor/verify-totp`: confirms the app when signed in; after the password, it signs in. Each code works once. */
export const AppProof = z.object({ code: AppCode })
/** `POST /api/auth/two-factor/disable`. */
const AppEnd = z.object({ password: Password })
/** `POST /api/auth/two-factor/verify-backup-code`: signs in after the password. Each code works once. */
export const Recovery = z.object({
  code: z
    .string()
    .trim()
    .min(10)
    .max(30)
    .meta({ examples: ['4k2mp-x9qd7'] }),
})
/** `POST /api/auth/two-factor/generate-backup-codes`: makes new codes. The previous ones stop working. */
const RecoveryDraft = z.object({ password: Password })

/** A browser's WebAuthn response as JSON. Only its form is checked here; its signature is verified later. */
const CredentialResponse = <T extends string>(...fields: T[]) =>
  z.object({
    id: z.string().min(1).max(2048),
    rawId: z.string().min(1).max(2048),
    type: z.literal('public-key'),
    response: z.looseObject({
      ...(Object.fromEntries(fields.map(name => [name, z.string().max(100_000)])) as Record<T, z.ZodString>),
      transports: z.array(z.string().max(100)).max(20).optional(),
    }),
    clientExtensionResults: z.looseObject({}).default({}),
    authenticatorAttachment: z.string().optional(),
  })

/** `POST /api/auth/passkey/ask`: the options for `navigator.credentials.create`. Needs the current password unless the session is young. */
const PasskeyWish = z.object({ currentPassword: Password.optional() })
/** `POST /api/auth/passkey/add`. */
export const PasskeyDraft = z.object({
  name: Name(),
  response: CredentialResponse('clientDataJSON', 'attestationObject'),
})
/** `POST /api/auth/passkey/rename`. */
export const PasskeyName = z.object({ id: z.string().min(1).max(64), name: Name() })
/** `POST /api/auth/passkey/remove`. Needs the current password unless the session is young. */
export const PasskeyEnd = z.object({ id: z.string().min(1).max(64), currentPassword: Password.optional() })
/** `POST /api/auth/passkey/sign-in`, alone or after the password. */
const PasskeySignIn = z.object({ response: CredentialResponse('clientDataJSON', 'authenticatorData', 'signature') })

/** The paths below `/api/auth` for second factors, each with the body it accepts. */
export const SECOND_FORMS = {
  'POST /two-factor/enable': AppBegin,
  'POST /two-factor/verify-totp': AppProof,
  'POST /two-factor/disable': AppEnd,
  'POST /two-factor/verify-backup-code': Recovery,
  'POST /two-factor/generate-backup-codes': RecoveryDraft,
  'POST /passkey/ask': PasskeyWish,
  'POST /passkey/add': PasskeyDraft,
  'POST /passkey/rename': PasskeyName,
  'POST /passkey/remove': PasskeyEnd,
  'POST /passkey/ask-sign-in': undefined,
  'POST /passkey/sign-in': PasskeySignIn,
} as const satisfies Record<string, z.ZodType | undefined>

const Codes = z.array(z.string()).meta({ description: 'Recovery codes. They are never shown again' })

/** A person's second factors. */
export const SecondFactor = z
  .object({
    app: z.boolean().meta({ description: 'Whether an authenticator app is set up' }),
    passkeys: z.array(
      z.object({
        id: Id,
        name: z.string(),
        is_synced: z.boolean().meta({ description: 'Whether the passkey is synced to several devices' }),
        created_at: Instant,
        last_used_at: Instant.nullable(),
      }),
    ),
    recovery_codes_left: z.int(),
    required_by: z.array(z.string()).meta({ description: 'The names of your workspaces that require a second factor' }),
  })
  .meta({ id: 'SecondFactor' })

export const readSecondFactor = endpoint({
  route: 'GET /api/second-factor',
  access: { session: 'person' },
  summary: 'Read your second factors',
  reply: SecondFactor,
})

const anyone = { access: 'anyone', visit: true } as const
const person = { access: { session: 'person' }, visit: true } as const
const Changed = z.object({ status: z.literal(true) }).meta({ id: 'SecondFactorChanged' })
/** Only the person: the rest is in `get-session`. */
const LetIn = z.object({ user: z.looseObject({ id: Id, name: z.string(), email: z.string() }) }).meta({ id: 'LetIn' })
/** WebAuthn options, passed to the browser unchanged. */
const Question = z.looseObject({ challenge: z.string() }).meta({ id: 'PasskeyQuestion' })

const invalidPassword = { 400: { words: 'the password is wrong (`INVALID_PASSWORD`)', type: 'refusal' } } as const
const invalidProof = {
  400: {
    words:
      'the current password is wrong (`INVALID_PASSWORD`) or missing (`PASSWORD_REQUIRED`), or passkeys do not work at this address (`PASSKEY_REFUSED`)',
    type: 'refusal',
  },
} as const
const wrongCode = {
  401: {
    words:
      'the code is wrong (`INVALID_CODE`, `INVALID_BACKUP_CODE`) or was used before (`CODE_USED`); the password was entered too long ago (`INVALID_TWO_FACTOR_COOKIE`)',
    type: 'refusal',
    headers: ['Set-Cookie'],
  },
  400: {
    words:
      'there is no app (`TOTP_NOT_ENABLED`), or it is already confirmed (`TOTP_ALREADY_ENABLED`); there are no recovery codes (`BACKUP_CODES_NOT_ENABLED`); too many codes were wrong, sign in again (`TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE`)',
    type: 'refusal',
    headers: ['Set-Cookie'],
  },
  409: { words: 'another code was used at the same moment', type: 'refusal' },
  429: { words: 'ten codes in a row were wrong: wait 15 minutes (`ACCOUNT_TEMPORARILY_LOCKED`)', type: 'refusal' },
} as const

/** The same paths as endpoints, for the API reference. */
export const SECOND_PARTS = {
  beginApp: endpoint({
    ...person,
    route: 'POST /api/auth/two-factor/enable',
    summary: 'Begin the setup of an authenticator app. It takes effect with verify-totp',
    body: AppBegin,
    reply: z.object({
      totpURI: z.string().meta({ description: 'The text of the QR code for the app' }),
      recoveryCodes: Codes.nullable().meta({ description: 'Null: your existing recovery codes keep working' }),
    }),
    answers: {
      400: {
        words: 'the password is wrong (`INVALID_PASSWORD`), or an app is already set up (`TOTP_ALREADY_ENABLED`)',
        type: 'refusal',
      },
    },
    refuses: ['rate_limited', 'service_unavailable'],
  }),
  proveApp: endpoint({
    ...anyone,
    route: 'POST /api/auth/two-factor/verify-totp',
    summary: 'Confirm the app when signed in; after the password, sign in with its code',
    description: 'Each code works once.',
    body: AppProof,
    reply: LetIn,
    headers: ['Set-Cookie'],
    answers: wrongCode,
    refuses: ['rate_limited', 'service_unavailable'],
  }),
  endApp: endpoint({
    ...person,
    route: 'POST /api/auth/two-factor/disable',
    summary: 'Remove the authenticator app. Without a passkey, the password alone then signs in',
    body: AppEnd,
    reply: Changed,
    answers: invalidPassword,
    refuses: ['rate_limited', 'service_unavailable'],
  }),
  recover: endpoint({
    ...anyone,
    route: 'POST /api/auth/two-factor/verify-backup-code',
    summary: 'Sign in with a recovery code after the password. Each code works once',
    body: Recovery,
    reply: LetIn,
    headers: ['Set-Cookie'],
    answers: wrongCode,
    refuses: ['rate_limited', 'service_unavailable'],
  }),
  renewRecoveryCodes: endpoint({
    ...person,
    route: 'POST /api/auth/two-factor/generate-backup-codes',
    summary: 'Make new recovery codes. The previous ones stop working',
    body: RecoveryDraft,
    reply: z.object({ recoveryCodes: Codes }),
    answers: {
      400: {
        words: 'the password is wrong (`INVALID_PASSWORD`), or there is no second factor (`TWO_FACTOR_NOT_ENABLED`)',
        type: 'refusal',
      },
    },
    refuses: ['rate_limited', 'service_unavailable'],
  }),
  askForPasskey: endpoint({
    ...person,
    route: 'POST /api/auth/passkey/ask',
    summary: 'Read the WebAuthn options for creating a passkey',
    body: PasskeyWish,
    reply: Question,
    answers: invalidProof,
    refuses: ['rate_limited', 'service_unavailable'],
  }),
  addPasskey: endpoint({
    ...person,
    route: 'POST /api/auth/passkey/add',
    summary: 'Register the passkey that the browser created',
    body: PasskeyDraft,
    reply: z.object({ id: Id, recoveryCodes: Codes.nullable() }),
    answers: { 400: { words: 'the response is not valid for the challenge (`PASSKEY_REFUSED`)', type: 'refusal' } },
    refuses: ['already_exists', 'service_unavailable'],
  }),
  renamePasskey: endpoint({
    ...person,
    route: 'POST /api/auth/passkey/rename',
    summary: 'Rename a passkey',
    body: PasskeyName,
    reply: Changed,
    refuses: ['object_not_found', 'service_unavailable'],
  }),
  removePasskey: endpoint({
    ...person,
    route: 'POST /api/auth/passkey/remove',
    summary: 'Remove a passkey. Without another second factor, the password alone then signs in',
    body: PasskeyEnd,
    reply: Changed,
    answers: invalidProof,
    refuses: ['object_not_found', 'rate_limited', 'service_unavailable'],
  }),
  askForSignature: endpoint({
    ...anyone,
    route: 'POST /api/auth/passkey/ask-sign-in',
    summary: 'Read the WebAuthn options for signing in with a passkey',
    reply: Question,
    answers: { 400: { words: 'passkeys do not work at an IP address (`PASSKEY_REFUSED`)', type: 'refusal' } },
    refuses: ['service_unavailable'],
  }),
  signInWithPasskey: endpoint({
    ...anyone,
    route: 'POST /api/auth/passkey/sign-in',
    summary: 'Sign in with a passkey, alone or after the password',
    body: PasskeySignIn,
    reply: LetIn,
    headers: ['Set-Cookie'],
    answers: {
      401: {
        words: 'the passkey is unknown, or its response is wrong or too late (`PASSKEY_REFUSED`)',
        type: 'refusal',
      },
    },
    refuses: ['rate_limited', 'service_unavailable'],
  }),
} as const satisfies Record<string, Endpoint>
