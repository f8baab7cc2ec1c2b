/**
 * The sign-in library, set up for Sluice: e-mail and password, sessions in the database, nothing cached in cookies, so that a
 * revoked session is out at once. Its tables are those of the room of accounts.
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
import { newRecoveryCodes, sealingOf } from '../second-factor/recovery-codes.ts'
import { NO_SECRET } from '../second-factor/second-factor.ts'
import { giveBack, spend } from '../second-factor/spent-codes.ts'
import { PASSWORD_MAX, PASSWORD_MIN } from './api.ts'
import { openAuthDatabase } from './auth-database.ts'

const DAY_S = 86_400
const SESSION_S = 30 * DAY_S
const RESET_S = 3600

/** `fields` of the library by the columns of migrations/0001. */
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

/** Opens the library. `address` is where it believes to be; `faithfully` throws what its database threw. */
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
    // The identifier of a reset link is its token: whoever reads the database or a backup must not find it.
    verification: { modelName: 'verifications', fields: columns.verifications, storeIdentifier: 'hashed' },
    emailAndPassword: passwords(ground),
    plugins: [secondFactor(ground), onlyOnce(ground), entrance],
    onAPIError: { throw: true },
    // attempts.ts counts failures instead of requests.
    rateLimit: { enabled: false },
    advanced: {
      // The door has compared Origin exactly; the library's check would take a Referer for it and let a missing one pass.
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
    // Accounts are made by sign-up.ts, together with what they belong to.
    disableSignUp: true,
    minPasswordLength: PASSWORD_MIN,
    maxPasswordLength: PASSWORD_MAX,
    resetPasswordTokenExpiresIn: RESET_S,
    revokeSessionsOnPasswordReset: true,
    onPasswordReset: async ({ user }: { user: { id: string } }) => {
      // Nothing here may throw: the password is stored already, and the sessions end after this.
      await endVerificationsOf(ground, user.id)
      await proveAddress(ground, user.id)
    },
    sendResetPassword: async ({ user, token }: { user: { email: string }; token: string }, request?: Request) => {
      const link = linkTo(
        ground.config,
        `/reset-password?token=${encodeURIComponent(token)}`,
        request?.headers.get('origin'),
      )
      // Not awaited: how long the mail takes would tell whether the address has an account.
      void mailReset(ground, user.email, link)
    },
  }
}

/** Notes that the link of a reset mail was opened. Without a mail server the link stands in the log and proves no address. */
async function proveAddress(
  { config, db, log }: Pick<Ground, 'config' | 'db' | 'log'>,
  user_id: string,
): Promise<void> {
  if (config.smtpUrl === undefined) return
  try {
    await setEmailVerified(db, user_id)
  } catch (error) {
    log.warn({ err: error, user_id }, 'an address that a reset has proved could not be noted as proved')
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

If it was not you, ignore this mail: nothing has changed.`,
    },
  )
}

/** The step after the password, and the app's secret. No browser is trusted for longer: sessions are long enough. */
function secondFactor({ secrets }: Ground) {
  return twoFactor({
    issuer: 'Sluice',
    backupCodeOptions: { customBackupCodesGenerate: newRecoveryCodes, storeBackupCodes: sealingOf(secrets) },
    schema: {
      user: { fields: { twoFactorEnabled: 'two_factor_enabled' } },
      twoFactor: { modelName: 'two_factors', fields: columns.two_factors },
    },
  })
}

/** Begins a session for someone who has shown a passkey. Not a path: only Sluice itself can ask for it. */
const entrance = {
  id: 'entrance',
  endpoints: {
    letIn: createAuthEndpoint.serverOnly({ method: 'POST', body: z.object({ userId: z.string() }) }, async ctx => {
      const user = await ctx.context.internalAdapter.findUserById(ctx.body.userId)
      if (user === null) throw new APIError('UNAUTHORIZED', { message: 'this account is gone' })
      const session = await ctx.context.internalAdapter.createSession(user.id)
      await setSessionCookie(ctx, { session, user })
      expireCookie(ctx, stepCookie(ctx))
      return ctx.json({ user })
    }),
  },
} satisfies BetterAuthPlugin

type Asked = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0]

/** The cookie of the step after the password, which the library names. */
const stepCookie = ({ context }: Pick<Asked, 'context'>) => context.createAuthCookie('two_factor')

const isProof = ({ path }: { path?: string }) => path === '/two-factor/verify-totp'

/**
 * A code that was used lets nobody in again while its half minute lasts, which the library would allow. It is spent before it is looked at, so that
 * of two uses at once one is refused, and given back where it let nobody in: a slip of the finger is wrong twice, not used.
 */
function onlyOnce({ db }: Ground) {
  const before = createAuthMiddleware(async ctx => {
    const signedIn = (await getSessionFromCtx(ctx))?.user.id
    const user_id = signedIn ?? (await whoIsAtTheStep(ctx))
    if (user_id === undefined) return
    if (signedIn !== undefined) await requireBegun(ctx, signedIn)
    if (!(await spend(db, user_id, codeIn(ctx))))
      throw new APIError('UNAUTHORIZED', { message: 'this code was used: wait for the next one', code: 'CODE_USED' })
  })
  const after = createAuthMiddleware(async ctx => {
    if (!isAPIError(ctx.context.returned)) return
    const user_id = (await getSessionFromCtx(ctx))?.user.id ?? (await whoIsAtTheStep(ctx))
    if (user_id !== undefined) await giveBack(db, user_id, codeIn(ctx))
  })
  return {
    id: 'only-once',
    hooks: { before: [{ matcher: isProof, handler: before }], after: [{ matcher: isProof, handler: after }] },
  } satisfies BetterAuthPlugin
}

const codeIn = ({ body }: Pick<Asked, 'body'>) => (body as { code: string }).code

async function whoIsAtTheStep(ctx: Asked): Promise<string | undefined> {
  const step = await ctx.getSignedCookie(stepCookie(ctx).name, ctx.context.secret)
  const found = step ? await ctx.context.internalAdapter.findVerificationValue(step) : null
  return found?.value
}

/** Of someone signed in: an app that was begun and not confirmed yet is there to be confirmed, nothing else. */
async function requireBegun({ context }: Asked, userId: string): Promise<void> {
  const where = [{ field: 'userId', value: userId }]
  const found = await context.adapter.findOne<{ secret: string; verified: boolean }>({ model: 'twoFactor', where })
  if (found === null || found.secret === NO_SECRET)
    throw new APIError('BAD_REQUEST', { message: 'no app was begun with', code: 'TOTP_NOT_ENABLED' })
  if (found.verified)
    throw new APIError('BAD_REQUEST', { message: 'the app is confirmed', code: 'TOTP_ALREADY_ENABLED' })
}
