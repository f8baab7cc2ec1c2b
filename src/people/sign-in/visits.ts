/**
 * The way to the sign-in library: what may be asked of it, in its own words. Only the paths of `AUTH_FORMS` and `SECOND_FORMS` exist.
 */
import { z } from 'zod'
import { Instant } from '../../contract/fields.ts'
import { toWireId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { networkOf, wideNetworkOf } from '../../ground/network.ts'
import { type Answer, idOf, type Visit } from '../../ground/room.ts'
import { endSessionOf, sessionsOf } from '../accounts/sessions.ts'
import { AUTH_FORMS, type SessionEnd, type SignUp } from './api.ts'
import { changeEmail, changePassword, confirmEmail } from './credentials.ts'
import { type Desk, forward, guarded, personOf, PREFIX } from './library-calls.ts'
import { answerSecondStep, isSecondPath, withWays } from './second-steps.ts'
import { requireSetupCode } from './setup-code.ts'
import { createAccount } from './sign-up.ts'

type Path = keyof typeof AUTH_FORMS
type Form<T extends z.ZodType> = z.output<T>

/** Answers a visit to `/api/auth/*`. */
export async function answerSignIn(desk: Desk, visit: Visit): Promise<Answer> {
  const { pathname } = new URL(visit.url, desk.library.address)
  const path = `${visit.method} ${pathname.slice(PREFIX.length)}`
  if (isSecondPath(path)) return answerSecondStep(desk, visit, path)
  if (!isPath(path)) refuse('route_not_found')
  const { body } = visit
  switch (path) {
    case 'POST /sign-up/email':
      return signUp(desk, visit, AUTH_FORMS[path].parse(body))
    case 'POST /sign-in/email': {
      const form = AUTH_FORMS[path].parse(body)
      return guarded(desk, visit, async () => withWays(desk, form, await forward(desk, visit, path, form)))
    }
    case 'POST /reset-password': {
      const form = AUTH_FORMS[path].parse(body)
      return guarded(desk, visit, () => forward(desk, visit, path, form))
    }
    case 'POST /change-password': {
      const form = AUTH_FORMS[path].parse(body)
      return guarded(desk, visit, () => changePassword(desk, visit, form))
    }
    case 'POST /change-email': {
      const form = AUTH_FORMS[path].parse(body)
      return guarded(desk, visit, () => changeEmail(desk, visit, form))
    }
    case 'POST /verify-email':
      return confirmEmail(desk, visit, AUTH_FORMS[path].parse(body))
    case 'GET /list-sessions':
      return showSessions(desk, visit)
    case 'POST /revoke-session':
      return endSession(desk, visit, AUTH_FORMS[path].parse(body))
    case 'POST /request-password-reset': {
      const form = AUTH_FORMS[path].parse(body)
      await desk.attempts.count('reset', wideNetworkOf(visit.ip))
      await desk.attempts.count('mail', form.email.toLowerCase())
      return forward(desk, visit, path, form)
    }
    default:
      return forward(desk, visit, path, AUTH_FORMS[path]?.parse(body))
  }
}

function isPath(path: string): path is Path {
  return Object.hasOwn(AUTH_FORMS, path)
}

async function signUp(desk: Desk, visit: Visit, form: Form<typeof SignUp>): Promise<Answer> {
  const { db, config } = desk.ground
  await desk.attempts.count('account', networkOf(visit.ip))
  await requireSetupCode(desk, visit, form.setup_code)
  const { password } = await desk.library.auth.$context
  await createAccount(db, config, form, password.hash)
  return forward(desk, visit, 'POST /sign-in/email', { email: form.email, password: form.password })
}

/** The library's list of sessions, with each one's id in place of its token. */
async function showSessions(desk: Desk, visit: Visit): Promise<Answer> {
  const person = await personOf(desk, visit)
  const sessions = await sessionsOf(desk.ground.db, person)
  const body = sessions.map(({ id, created_at, last_seen_at, expires_at, ip_address, user_agent }) => ({
    id: toWireId(id),
    token: toWireId(id),
    userId: toWireId(person.user_id),
    createdAt: z.encode(Instant, created_at),
    updatedAt: z.encode(Instant, last_seen_at),
    expiresAt: z.encode(Instant, expires_at),
    ipAddress: ip_address,
    userAgent: user_agent,
  }))
  return { status: 200, headers: { 'cache-control': 'no-store' }, body }
}

async function endSession(desk: Desk, visit: Visit, { token }: Form<typeof SessionEnd>): Promise<Answer> {
  await endSessionOf(desk.ground.db, await personOf(desk, visit), idOf(token))
  return { status: 200, body: { status: true } }
}
