/**
 * What is asked for besides the password: codes of an app, passkeys, recovery codes. What is under `/api/auth/*` answers as the rest of signing
 * in does, see the room of it; `SECOND_FORMS` holds what may be sent there.
 */
import { z } from 'zod'
import { type Endpoint, endpoint } from '../../contract/endpoint.ts'
import { Id, Instant, Name } from '../../contract/fields.ts'

const Password = z.string().min(1).max(128)

/** Six digits, in groups or not. */
const AppCode = z
  .string()
  .max(20)
  .transform(typed => typed.replace(/\s/g, ''))
  .pipe(z.string().regex(/^\d{6}$/, { message: 'must be six digits' }))
  .meta({ description: 'The six digits the app shows now', examples: ['493 812'] })

/** `POST /api/auth/two-factor/enable`: begins with an app, which counts once it has shown a code. */
export const AppBegin = z.object({ password: Password })
/** `POST /api/auth/two-factor/verify-totp`: signed in, it confirms the app; after the password, it signs in. A code holds good once. */
export const AppProof = z.object({ code: AppCode })
/** `POST /api/auth/two-factor/disable`. */
const AppEnd = z.object({ password: Password })
/** `POST /api/auth/two-factor/verify-backup-code`: signs in after the password, once with each code. */
export const Recovery = z.object({
  code: z
    .string()
    .trim()
    .min(10)
    .max(30)
    .meta({ examples: ['4k2mp-x9qd7'] }),
})
/** `POST /api/auth/two-factor/generate-backup-codes`: ends the codes before. */
const RecoveryDraft = z.object({ password: Password })

/** What a browser answers of a passkey, as it says it in JSON; what it is worth, its signature says. */
const Said = <T extends string>(...fields: T[]) =>
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

/** `POST /api/auth/passkey/ask`: what `navigator.credentials.create` is given. Needs the current password unless the session is young. */
const PasskeyWish = z.object({ currentPassword: Password.optional() })
/** `POST /api/auth/passkey/add`. */
export const PasskeyDraft = z.object({ name: Name(), response: Said('clientDataJSON', 'attestationObject') })
/** `POST /api/auth/passkey/rename`. */
export const PasskeyName = z.object({ id: z.string().min(1).max(64), name: Name() })
/** `POST /api/auth/passkey/remove`. Needs the current password unless the session is young. */
export const PasskeyEnd = z.object({ id: z.string().min(1).max(64), currentPassword: Password.optional() })
/** `POST /api/auth/passkey/sign-in`, with or without a password before it. */
const PasskeySignIn = z.object({ response: Said('clientDataJSON', 'authenticatorData', 'signature') })

/** The paths below `/api/auth` that are about a second factor, and what may be sent to each. */
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

const Codes = z.array(z.string()).meta({ description: 'Shown this once' })

/** What somebody has set up beside the password. */
export const SecondFactor = z
  .object({
    app: z.boolean().meta({ description: 'An app shows codes' }),
    passkeys: z.array(
      z.object({
        id: Id,
        name: z.string(),
        is_synced: z.boolean().meta({ description: 'Kept by an account of the maker, and so on several devices' }),
        created_at: Instant,
        last_used_at: Instant.nullable(),
      }),
    ),
    recovery_codes_left: z.int(),
    required_by: z.array(z.string()).meta({ description: 'The workspaces of theirs that ask for one' }),
  })
  .meta({ id: 'SecondFactor' })

export const readSecondFactor = endpoint({
  route: 'GET /api/second-factor',
  access: { session: 'person' },
  summary: 'What you have set up beside the password',
  reply: SecondFactor,
})

const anyone = { access: 'anyone', visit: true } as const
const person = { access: { session: 'person' }, visit: true } as const
const Changed = z.object({ status: z.literal(true) }).meta({ id: 'SecondFactorChanged' })
/** Nothing but who it is: the rest is in `get-session`. */
const LetIn = z.object({ user: z.looseObject({ id: Id, name: z.string(), email: z.string() }) }).meta({ id: 'LetIn' })
/** In the words of WebAuthn, for the browser alone. */
const Question = z.looseObject({ challenge: z.string() }).meta({ id: 'PasskeyQuestion' })

const wrongPassword = { 400: { words: 'the password is wrong (`INVALID_PASSWORD`)', type: 'refusal' } } as const
const provenAnew = {
  400: {
    words:
      'the current password is wrong (`INVALID_PASSWORD`) or needed (`PASSWORD_REQUIRED`), or nothing can be done here (`PASSKEY_REFUSED`)',
    type: 'refusal',
  },
} as const
const wrongCode = {
  401: {
    words:
      'the code is wrong (`INVALID_CODE`, `INVALID_BACKUP_CODE`) or was used (`CODE_USED`); the password was shown too long ago (`INVALID_TWO_FACTOR_COOKIE`)',
    type: 'refusal',
    headers: ['Set-Cookie'],
  },
  400: {
    words:
      'there is no app to show codes (`TOTP_NOT_ENABLED`), or one is confirmed already (`TOTP_ALREADY_ENABLED`); there are no recovery codes (`BACKUP_CODES_NOT_ENABLED`); too many were wrong, sign in anew (`TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE`)',
    type: 'refusal',
    headers: ['Set-Cookie'],
  },
  409: { words: 'another code was used at the same moment', type: 'refusal' },
  429: { words: 'ten in a row were wrong: wait a quarter of an hour (`ACCOUNT_TEMPORARILY_LOCKED`)', type: 'refusal' },
} as const

/** The same in the documents. */
export const SECOND_PARTS = {
  beginApp: endpoint({
    ...person,
    route: 'POST /api/auth/two-factor/enable',
    summary: 'Begin with an app that shows codes; nothing changes until verify-totp',
    body: AppBegin,
    reply: z.object({
      totpURI: z.string().meta({ description: 'What the app is shown as a QR code' }),
      recoveryCodes: Codes.nullable().meta({ description: 'null: those that there are stay good' }),
    }),
    answers: {
      400: {
        words: 'the password is wrong (`INVALID_PASSWORD`), or an app is set up (`TOTP_ALREADY_ENABLED`)',
        type: 'refusal',
      },
    },
    refuses: ['rate_limited', 'service_unavailable'],
  }),
  proveApp: endpoint({
    ...anyone,
    route: 'POST /api/auth/two-factor/verify-totp',
    summary: 'Signed in: confirm the app. After the password: sign in with its code',
    description: 'A code holds good once.',
    body: AppProof,
    reply: LetIn,
    headers: ['Set-Cookie'],
    answers: wrongCode,
    refuses: ['rate_limited', 'service_unavailable'],
  }),
  endApp: endpoint({
    ...person,
    route: 'POST /api/auth/two-factor/disable',
    summary: 'Make an end of the app; without a passkey the password is enough again',
    body: AppEnd,
    reply: Changed,
    answers: wrongPassword,
    refuses: ['rate_limited', 'service_unavailable'],
  }),
  recover: endpoint({
    ...anyone,
    route: 'POST /api/auth/two-factor/verify-backup-code',
    summary: 'Sign in after the password with a recovery code, which is used up',
    body: Recovery,
    reply: LetIn,
    headers: ['Set-Cookie'],
    answers: wrongCode,
    refuses: ['rate_limited', 'service_unavailable'],
  }),
  renewRecoveryCodes: endpoint({
    ...person,
    route: 'POST /api/auth/two-factor/generate-backup-codes',
    summary: 'Make new recovery codes; those before are no good any more',
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
    summary: 'What a browser is given to make a passkey',
    body: PasskeyWish,
    reply: Question,
    answers: provenAnew,
    refuses: ['rate_limited', 'service_unavailable'],
  }),
  addPasskey: endpoint({
    ...person,
    route: 'POST /api/auth/passkey/add',
    summary: 'Take in the passkey that the browser has made',
    body: PasskeyDraft,
    reply: z.object({ id: Id, recoveryCodes: Codes.nullable() }),
    answers: { 400: { words: 'it is not what was asked for (`PASSKEY_REFUSED`)', type: 'refusal' } },
    refuses: ['already_exists', 'service_unavailable'],
  }),
  renamePasskey: endpoint({
    ...person,
    route: 'POST /api/auth/passkey/rename',
    summary: 'Call a passkey by another name',
    body: PasskeyName,
    reply: Changed,
    refuses: ['object_not_found', 'service_unavailable'],
  }),
  removePasskey: endpoint({
    ...person,
    route: 'POST /api/auth/passkey/remove',
    summary: 'Remove a passkey; without another second factor the password is enough again',
    body: PasskeyEnd,
    reply: Changed,
    answers: provenAnew,
    refuses: ['object_not_found', 'rate_limited', 'service_unavailable'],
  }),
  askForSignature: endpoint({
    ...anyone,
    route: 'POST /api/auth/passkey/ask-sign-in',
    summary: 'What a browser is given to sign in with a passkey',
    reply: Question,
    answers: { 400: { words: 'no passkey is good at an address without a name (`PASSKEY_REFUSED`)', type: 'refusal' } },
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
        words: 'the passkey is unknown here, or its answer is wrong or too late (`PASSKEY_REFUSED`)',
        type: 'refusal',
      },
    },
    refuses: ['rate_limited', 'service_unavailable'],
  }),
} as const satisfies Record<string, Endpoint>
