/**
 * The sign-in library, configured for Sluice: e-mail and password, sessions in the database. Nothing is cached in cookies, so that a revoked
 * session ends at once. Its tables belong to the accounts room.
 */
import { type BetterAuthPlugin, betterAuth } from 'better-auth'
import { APIError, createAuthEndpoint, createAuthMiddleware, getSessionFromCtx, isAPIError } from 'better-auth/api'
import { expireCookie, setSessionCookie } from 'better-auth/cookies'
import { twoFactor } from 'better-auth/plugins/two-factor'
import { z } from 'zod'
import { newId } from '../../contract/ids.ts'
import { linkTo, sendMail } from '../../ground/mail/mail.ts'
import type { Ground } from '../../ground/room.ts'
import { endVerificationsOf, setEmailVerified } from '../accounts/accounts.ts'
import { newRecoveryCodes, codeEncryption } from '../second-factor/recovery-codes.ts'
import { NO_SECRET } from '../second-factor/second-factor.ts'
import { unmarkCodeUsed, markCodeUsed } from '../second-factor/spent-codes.ts'
import { PASSWORD_MAX, PASSWORD_MIN } from './api.ts'
import { openAuthDatabase } from './auth-database.ts'

const DAY_S = 86_400
const SESSION_S = 30 * DAY_S
const RESET_S = 3600

/** The library's field names with the columns of migrations/0001. */
const times = { createdAt: 'created_at', updatedAt: 'updated_at' }
const columns = {
  users: { emailVerified: 'email_verified', ...times },
  sessions: { userId: 'user_id', expiresAt: 'expires_at', ipAddress: 'ip_address', userAgent: 'user_agent', ...times },
  accounts: {
    userId: 'user_id',
    accountId: 'account_id',
    providerId: 'provider_id',
    accessToken: 'access_token',
    refreshToken: 'refresh_token',
    idToken: 'id_token',
    accessTokenExpiresAt: 'access_token_expires_at',
    refreshTokenExpiresAt: 'refresh_token_expires_at',
    ...times,
  },
  verifications: { expiresAt: 'expires_at', ...times },
  two_factors: {
    userId: 'user_id',
    backupCodes: 'backup_codes',
    failedVerificationCount: 'failed_verification_count',
    lockedUntil: 'locked_until',
  },
}

/** Opens the library. `address` is its base URL; run its calls in `withOriginalErrors`, which throws the original database errors. */
export function openLibrary(ground: Ground) {
  const { config, database, log, secrets } = ground
  const baseURL = config.baseUrl ?? `http://localhost:${config.port}`
  const isSecure = baseURL.startsWith('https:')
  const own = openAuthDatabase(database.auth)
  const auth = betterAuth({
    baseURL,
    basePath: '/api/auth',
    secret: secrets.mac('sign-in', 'cookies').toString('base64url'),
    telemetry: { enabled: false },
    logger: {
      level: 'warn',
      log: (level, message) => log[level === 'error' ? 'warn' : 'debug']({ from: 'sign-in' }, message),
    },
    database: { db: own.db, type: 'postgres', transaction: true },
    user: { modelName: 'users', fields: columns.users },
    session: {
      modelName: 'sessions',
      fields: columns.sessions,
      expiresIn: SESSION_S,
      updateAge: DAY_S,
      cookieCache: { enabled: false },
    },
    account: { modelName: 'accounts', fields: columns.accounts },
    // The identifier of a reset link is its token, so it is stored hashed: a reader of the database or a backup must not be able to use it.
    verification: { modelName: 'verifications', fields: columns.verifications, storeIdentifier: 'hashed' },
    emailAndPassword: passwords(ground),
    plugins: [secondFactor(ground), singleUseCodes(ground), passkeySession],
    onAPIError: { throw: true },
    // attempts.ts limits failed attempts instead of requests.
    rateLimit: { enabled: false },
    advanced: {
      // The gate has already compared Origin exactly. The library's check would accept a Referer instead, or no header at all.
      disableCSRFCheck: true,
      useSecureCookies: false,
      cookiePrefix: isSecure ? '__Host-sluice' : 'sluice',
      defaultCookieAttributes: { secure: isSecure, httpOnly: true, sameSite: 'lax', path: '/' },
      database: { generateId: () => newId(), validateSchema: false },
      ipAddress: { ipAddressHeaders: ['x-client-ip'] },
    },
  })
  return { ...own, auth, address: baseURL }
}

function passwords(ground: Ground) {
  return {
    enabled: true,
    // sign-up.ts creates accounts, together with their membership.
    disableSignUp: true,
    minPasswordLength: PASSWORD_MIN,
    maxPasswordLength: PASSWORD_MAX,
    resetPasswordTokenExpiresIn: RESET_S,
    revokeSessionsOnPasswordReset: true,
    onPasswordReset: async ({ user }: { user: { id: string } }) => {
      // Nothing here may throw: the password is already stored, and the library ends the sessions after this.
      await endVerificationsOf(ground, user.id)
      await recordProvenAddress(ground, user.id)
    },
    sendResetPassword: async ({ user, token }: { user: { email: string }; token: string }, request?: Request) => {
      const link = linkTo(
        ground.config,
        `/reset-password?token=${encodeURIComponent(token)}`,
        request?.headers.get('origin'),
      )
      // Not awaited, because the time it takes would reveal whether the address has an account.
      void mailReset(ground, user.email, link)
    },
  }
}

/** Records that a mailed reset link was opened, which proves the address. Without a mail server the link is in the log and proves nothing. */
async function recordProvenAddress(
  { config, db, log }: Pick<Ground, 'config' | 'db' | 'log'>,
  user_id: string,
): Promise<void> {
  if (config.smtpUrl === undefined) return
  try {
    await setEmailVerified(db, user_id)
  } catch (error) {
    log.warn({ err: error, user_id }, 'could not record that a reset link proved an address')
  }
}

async function mailReset({ config, log }: Pick<Ground, 'config' | 'log'>, to: string, link: string): Promise<void> {
  await sendMail(
    { config, log },
    {
      to,
      subject: 'Choose a new password for Sluice',
      text: `Somebody asked for a new password for this address. Open this link within an hour to choose it:
${link}

If it was not you, ignore this e-mail: nothing has changed.`,
    },
  )
}

/** The library's plugin for the app and the step after the password. Its "trusted devices" are not used, because sessions last long enough. */
function secondFactor({ secrets }: Ground) {
  return twoFactor({
    issuer: 'Sluice',
    backupCodeOptions: { customBackupCodesGenerate: newRecoveryCodes, storeBackupCodes: codeEncryption(secrets) },
    schema: {
      user: { fields: { twoFactorEnabled: 'two_factor_enabled' } },
      twoFactor: { modelName: 'two_factors', fields: columns.two_factors },
    },
  })
}

/** A plugin that begins a session for a person whose passkey was verified. It has no path: only Sluice itself can call it. */
const passkeySession = {
  id: 'passkey-session',
  endpoints: {
    beginSession: createAuthEndpoint.serverOnly(
      { method: 'POST', body: z.object({ userId: z.string() }) },
      async ctx => {
        const user = await ctx.context.internalAdapter.findUserById(ctx.body.userId)
        if (user === null) throw new APIError('UNAUTHORIZED', { message: 'this account no longer exists' })
        const session = await ctx.context.internalAdapter.createSession(user.id)
        await setSessionCookie(ctx, { session, user })
        expireCookie(ctx, stepCookie(ctx))
        return ctx.json({ user })
      },
    ),
  },
} satisfies BetterAuthPlugin

type HookContext = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0]

/** The cookie of the step after the password, which the library names. */
const stepCookie = ({ context }: Pick<HookContext, 'context'>) => context.createAuthCookie('two_factor')

const isCodeCheck = ({ path }: { path?: string }) => path === '/two-factor/verify-totp'

/**
 * A plugin that lets each app code sign in once; the library would accept it again for as long as it is valid. The code is recorded as used
 * before the library checks it, so that the second of two concurrent uses is refused. If the check fails the record is removed, so that a
 * mistyped code is reported as wrong again, not as used.
 */
function singleUseCodes({ db }: Ground) {
  const before = createAuthMiddleware(async ctx => {
    const signedIn = (await getSessionFromCtx(ctx))?.user.id
    const user_id = signedIn ?? (await personAtSecondStep(ctx))
    if (user_id === undefined) return
    if (signedIn !== undefined) await requireAppSetup(ctx, signedIn)
    if (!(await markCodeUsed(db, user_id, codeIn(ctx))))
      throw new APIError('UNAUTHORIZED', { message: 'this code was used: wait for the next one', code: 'CODE_USED' })
  })
  const after = createAuthMiddleware(async ctx => {
    if (!isAPIError(ctx.context.returned)) return
    const user_id = (await getSessionFromCtx(ctx))?.user.id ?? (await personAtSecondStep(ctx))
    if (user_id !== undefined) await unmarkCodeUsed(db, user_id, codeIn(ctx))
  })
  return {
    id: 'single-use-codes',
    hooks: { before: [{ matcher: isCodeCheck, handler: before }], after: [{ matcher: isCodeCheck, handler: after }] },
  } satisfies BetterAuthPlugin
}

const codeIn = ({ body }: Pick<HookContext, 'body'>) => (body as { code: string }).code

async function personAtSecondStep(ctx: HookContext): Promise<string | undefined> {
  const step = await ctx.getSignedCookie(stepCookie(ctx).name, ctx.context.secret)
  const found = step ? await ctx.context.internalAdapter.findVerificationValue(step) : null
  return found?.value
}

/** Refuses to confirm an app for a signed-in person, unless their app setup was begun and is not yet confirmed. */
async function requireAppSetup({ context }: HookContext, userId: string): Promise<void> {
  const where = [{ field: 'userId', value: userId }]
  const factor = await context.adapter.findOne<{ secret: string; verified: boolean }>({ model: 'twoFactor', where })
  if (factor === null || factor.secret === NO_SECRET)
    throw new APIError('BAD_REQUEST', { message: 'no app setup is in progress', code: 'TOTP_NOT_ENABLED' })
  if (factor.verified)
    throw new APIError('BAD_REQUEST', { message: 'the app is already confirmed', code: 'TOTP_ALREADY_ENABLED' })
}
