/**
 * Dispatches requests below `/api/auth/*`. Only the paths in `AUTH_FORMS` and `SECOND_FORMS` exist; most are forwarded to the sign-in library.
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
import { type SignInContext, forward, countingGuesses, personOf, PREFIX } from './library-calls.ts'
import { answerSecondStep, isSecondPath, withMethods } from './second-steps.ts'
import { requireSetupCode } from './setup-code.ts'
import { createAccount } from './sign-up.ts'

type Path = keyof typeof AUTH_FORMS
type Form<T extends z.ZodType> = z.output<T>

/** Answers a request below `/api/auth/*`. Refuses `route_not_found` for an unknown path. */
export async function answerSignIn(context: SignInContext, visit: Visit): Promise<Answer> {
  const { pathname } = new URL(visit.url, context.library.address)
  const path = `${visit.method} ${pathname.slice(PREFIX.length)}`
  if (isSecondPath(path)) return answerSecondStep(context, visit, path)
  if (!isPath(path)) refuse('route_not_found')
  const { body } = visit
  switch (path) {
    case 'POST /sign-up/email':
      return signUp(context, visit, AUTH_FORMS[path].parse(body))
    case 'POST /sign-in/email': {
      const form = AUTH_FORMS[path].parse(body)
      return countingGuesses(context, visit, async () =>
        withMethods(context, form, await forward(context, visit, path, form)),
      )
    }
    case 'POST /reset-password': {
      const form = AUTH_FORMS[path].parse(body)
      return countingGuesses(context, visit, () => forward(context, visit, path, form))
    }
    case 'POST /change-password': {
      const form = AUTH_FORMS[path].parse(body)
      return countingGuesses(context, visit, () => changePassword(context, visit, form))
    }
    case 'POST /change-email': {
      const form = AUTH_FORMS[path].parse(body)
      return countingGuesses(context, visit, () => changeEmail(context, visit, form))
    }
    case 'POST /verify-email':
      return confirmEmail(context, visit, AUTH_FORMS[path].parse(body))
    case 'GET /list-sessions':
      return showSessions(context, visit)
    case 'POST /revoke-session':
      return endSession(context, visit, AUTH_FORMS[path].parse(body))
    case 'POST /request-password-reset': {
      const form = AUTH_FORMS[path].parse(body)
      await context.attempts.count('reset', wideNetworkOf(visit.ip))
      await context.attempts.count('mail', form.email.toLowerCase())
      return forward(context, visit, path, form)
    }
    default:
      return forward(context, visit, path, AUTH_FORMS[path]?.parse(body))
  }
}

function isPath(path: string): path is Path {
  return Object.hasOwn(AUTH_FORMS, path)
}

async function signUp(context: SignInContext, visit: Visit, form: Form<typeof SignUp>): Promise<Answer> {
  const { db, config } = context.ground
  await context.attempts.count('account', networkOf(visit.ip))
  await requireSetupCode(context, visit, form.setup_code)
  const { password } = await context.library.auth.$context
  await createAccount(db, config, form, password.hash)
  return forward(context, visit, 'POST /sign-in/email', { email: form.email, password: form.password })
}

/** The list of sessions in the library's form, with each session's id in place of its token. */
async function showSessions(context: SignInContext, visit: Visit): Promise<Answer> {
  const person = await personOf(context, visit)
  const sessions = await sessionsOf(context.ground.db, person)
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

async function endSession(context: SignInContext, visit: Visit, { token }: Form<typeof SessionEnd>): Promise<Answer> {
  await endSessionOf(context.ground.db, await personOf(context, visit), idOf(token))
  return { status: 200, body: { status: true } }
}
