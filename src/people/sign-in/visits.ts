/**
 * The way to the sign-in library: what may be asked of it, in its own words, and its answers in ours. Only the paths of
 * `AUTH_FORMS` exist; what the library answers beyond them, session tokens above all, does not leave.
 */
import { isAPIError } from 'better-auth/api'
import { z } from 'zod'
import { MINUTE_MS } from '../../contract/days.ts'
import { Instant } from '../../contract/fields.ts'
import { toWireId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { isTaken } from '../../ground/db/faults.ts'
import { sendMail } from '../../ground/mail/mail.ts'
import { type Answer, type Ground, idOf, type Person, type Visit } from '../../ground/room.ts'
import { endSessionOf, sessionsOf } from '../accounts/sessions.ts'
import { activate } from '../organizations/organizations.ts'
import { AUTH_FORMS, type EmailChange, type PasswordChange, type SessionEnd, type SignUp } from './api.ts'
import { type Attempts, networkOf } from './attempts.ts'
import type { openLibrary } from './library.ts'
import { createAccount } from './sign-up.ts'

export type Desk = {
  readonly ground: Ground
  readonly library: ReturnType<typeof openLibrary>
  readonly attempts: Attempts
  readonly whoIs: (headers: Visit['headers']) => Promise<Person | undefined>
}

type Path = keyof typeof AUTH_FORMS
type Form<T extends z.ZodType> = z.output<T>

const PREFIX = '/api/auth'

/** Answers a visit to `/api/auth/*`. */
export async function answerSignIn(desk: Desk, visit: Visit): Promise<Answer> {
  const { pathname } = new URL(visit.url, desk.library.address)
  const path = `${visit.method} ${pathname.slice(PREFIX.length)}`
  if (!isPath(path)) refuse('route_not_found')
  const { body } = visit
  switch (path) {
    case 'POST /sign-up/email':
      return signUp(desk, visit, AUTH_FORMS[path].parse(body))
    case 'POST /sign-in/email':
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
    case 'GET /list-sessions':
      return showSessions(desk, visit)
    case 'POST /revoke-session':
      return endSession(desk, visit, AUTH_FORMS[path].parse(body))
    case 'POST /request-password-reset': {
      const form = AUTH_FORMS[path].parse(body)
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

/** Lets the library answer one of its paths. The request is built anew, with nothing of the visit but what `headersOf` keeps. */
export async function forward({ library }: Desk, visit: Visit, path: Path, body: unknown): Promise<Answer> {
  const [method = '', rest = ''] = path.split(' ')
  const headers = headersOf(visit)
  if (method === 'POST') headers.set('content-type', 'application/json')
  const request = new Request(`${library.address}${PREFIX}${rest}`, {
    method,
    headers,
    ...(method === 'POST' ? { body: JSON.stringify(body ?? {}) } : {}),
  })
  return toAnswer(await library.faithfully(() => library.auth.handler(request)))
}

function headersOf({ headers, ip }: Visit): Headers {
  const kept = new Headers({ 'x-client-ip': ip })
  for (const name of ['cookie', 'user-agent', 'origin']) {
    const value = headers[name]
    if (typeof value === 'string') kept.set(name, value)
  }
  return kept
}

async function toAnswer(response: Response): Promise<Answer> {
  const text = await response.text()
  const cookies = response.headers.getSetCookie()
  const headers = { 'cache-control': 'no-store', ...(cookies.length > 0 ? { 'set-cookie': cookies } : {}) }
  const body: unknown = text === '' ? null : JSON.parse(text)
  if (response.ok)
    return {
      status: response.status,
      headers: { ...headers, 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify(presentable(body) ?? null),
    }
  if (response.status >= 500) throw new Error(`sign-in failed: ${text}`)
  const { message, code } = (body ?? {}) as { message?: string; code?: string }
  if (response.status === 401 && code === 'UNAUTHORIZED') refuse('sign_in_required')
  return {
    status: response.status,
    headers,
    body: { error: message ?? 'invalid request', ...(code === undefined ? {} : { code }) },
  }
}

/**
 * What may leave, ids in the form they have everywhere. A session's token is for the HttpOnly cookie alone; in a body every script
 * of the page could read it.
 */
function presentable(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body
  const shown = Object.entries(body).flatMap(([name, value]: [string, unknown]) => {
    if (name === 'token') return []
    if (name === 'user' || name === 'session') return [[name, presentable(value)] as const]
    return [[name, isIdName(name) && typeof value === 'string' ? toWireId(value) : value] as const]
  })
  return Object.fromEntries(shown)
}

const isIdName = (name: string) => name === 'id' || name === 'userId'

/** Counts the attempt against the visitor's network unless it succeeds. */
async function guarded({ attempts }: Desk, visit: Visit, attempt: () => Promise<Answer>): Promise<Answer> {
  const counted = await attempts.count('password', networkOf(visit.ip))
  const answer = await attempt()
  if (answer.status < 400) await counted.forgive()
  return answer
}

async function signUp(desk: Desk, visit: Visit, form: Form<typeof SignUp>): Promise<Answer> {
  const { db, config } = desk.ground
  await desk.attempts.count('account', networkOf(visit.ip))
  const { password } = await desk.library.auth.$context
  await createAccount(db, config, form, password.hash)
  return forward(desk, visit, 'POST /sign-in/email', { email: form.email, password: form.password })
}

/** Every other session ends, as whoever knew the old password may have one; this one is replaced and stays where it acted. */
async function changePassword(desk: Desk, visit: Visit, form: Form<typeof PasswordChange>): Promise<Answer> {
  const { db } = desk.ground
  const before = await desk.whoIs(visit.headers)
  const acting =
    before &&
    (await db
      .selectFrom('active_organizations')
      .select('org_id')
      .where('session_id', '=', before.session_id)
      .executeTakeFirst())
  const answer = await forward(desk, visit, 'POST /change-password', { ...form, revokeOtherSessions: true })
  const cookie = [answer.headers?.['set-cookie'] ?? []]
    .flat()
    .map(line => line.split(';', 1)[0])
    .join('; ')
  const after = answer.status < 400 && acting ? await desk.whoIs({ cookie }) : undefined
  if (acting && after) await activate(db, after.session_id, acting.org_id)
  return answer
}

/** Needs proof of the password, which the library would not ask for, and tells the old address. */
async function changeEmail(desk: Desk, visit: Visit, form: Form<typeof EmailChange>): Promise<Answer> {
  const { ground } = desk
  const person = (await desk.whoIs(visit.headers)) ?? refuse('sign_in_required')
  const refusal = await unprovenPassword(desk, visit, person, form.currentPassword)
  if (refusal !== undefined) return refusal
  const newEmail = form.newEmail.toLowerCase()
  // The library answers a taken address as if it had changed; the person signed in is to know.
  const taken = await ground.db.selectFrom('users').select('id').where('email', '=', newEmail).executeTakeFirst()
  if (taken !== undefined) refuseTaken()
  let answer: Answer
  try {
    answer = await forward(desk, visit, 'POST /change-email', { newEmail })
  } catch (error) {
    if (isTaken(error)) refuseTaken()
    throw error
  }
  if (answer.status < 400)
    void sendMail(ground, {
      to: person.email,
      subject: 'The e-mail address of your Sluice account was changed',
      text: `Your account now signs in with ${newEmail}. If it was not you, ask an owner of your workspace for help at once.`,
    })
  return answer
}

/** The library's list of sessions, with each one's id in place of its token. */
async function showSessions({ ground, whoIs }: Desk, { headers }: Visit): Promise<Answer> {
  const person = (await whoIs(headers)) ?? refuse('sign_in_required')
  const sessions = await sessionsOf(ground.db, person)
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

async function endSession(
  { ground, whoIs }: Desk,
  { headers }: Visit,
  { token }: Form<typeof SessionEnd>,
): Promise<Answer> {
  const person = (await whoIs(headers)) ?? refuse('sign_in_required')
  await endSessionOf(ground.db, person, idOf(token))
  return { status: 200, body: { status: true } }
}

function refuseTaken(): never {
  refuse('already_exists', { error: 'this e-mail address has an account' })
}

/** Who has just signed in has just shown the password; an older session, perhaps left open, must show it again. */
const JUST_SIGNED_IN_MS = 10 * MINUTE_MS

async function unprovenPassword(
  desk: Desk,
  visit: Visit,
  { session_id }: Person,
  password: string | undefined,
): Promise<Answer | undefined> {
  if (password !== undefined) return wrongPassword(desk, visit, password)
  const { created_at } = await desk.ground.db
    .selectFrom('sessions')
    .select('created_at')
    .where('id', '=', session_id)
    .executeTakeFirstOrThrow()
  if (Date.now() - Date.parse(created_at) < JUST_SIGNED_IN_MS) return undefined
  return {
    status: 400,
    body: { error: 'currentPassword: this session is too old to go without it', code: 'PASSWORD_REQUIRED' },
  }
}

async function wrongPassword({ library }: Desk, visit: Visit, password: string): Promise<Answer | undefined> {
  try {
    await library.faithfully(() => library.auth.api.verifyPassword({ body: { password }, headers: headersOf(visit) }))
    return undefined
  } catch (error) {
    if (!isAPIError(error) || error.statusCode >= 500) throw error
    return { status: error.statusCode, body: { error: error.message, code: error.body?.code } }
  }
}
