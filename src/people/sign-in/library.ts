/**
 * The sign-in library, set up for Sluice: e-mail and password, sessions in the database, nothing cached in cookies, so that a
 * revoked session is out at once. Its tables are those of the room of accounts.
 */
import { betterAuth } from 'better-auth'
import { newId } from '../../contract/ids.ts'
import { linkTo, sendMail } from '../../ground/mail/mail.ts'
import type { Ground } from '../../ground/room.ts'
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
    user: {
      modelName: 'users',
      fields: columns.users,
      changeEmail: { enabled: true, updateEmailWithoutVerification: true },
    },
    session: {
      modelName: 'sessions',
      fields: columns.sessions,
      expiresIn: SESSION_S,
      updateAge: DAY_S,
      cookieCache: { enabled: false },
    },
    account: { modelName: 'accounts', fields: columns.accounts },
    verification: { modelName: 'verifications', fields: columns.verifications },
    emailAndPassword: passwords(ground),
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
