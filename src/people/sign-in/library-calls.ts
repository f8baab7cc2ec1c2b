/**
 * Calls to the sign-in library. Each request to it is built anew from the few headers it needs, and session tokens are removed from its
 * responses.
 */
import type { Kysely } from 'kysely'
import { toWireId } from '../../contract/ids.ts'
import { Refusal, refuse } from '../../contract/refusals.ts'
import { networkOf } from '../../ground/network.ts'
import type { Answer, Ground, Person, Visit } from '../../ground/room.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { activate } from '../organizations/organizations.ts'
import type { Attempts } from '../accounts/attempts.ts'
import type { openLibrary } from './library.ts'

export type SignInContext = {
  readonly ground: Ground
  readonly library: ReturnType<typeof openLibrary>
  readonly attempts: Attempts
  readonly whoIs: (headers: Visit['headers']) => Promise<Person | undefined>
}

export const PREFIX = '/api/auth'

/** The signed-in person of a request. Refuses `sign_in_required`. */
export async function personOf({ whoIs }: SignInContext, { headers }: Visit): Promise<Person> {
  return (await whoIs(headers)) ?? refuse('sign_in_required')
}

/** Forwards a request to the library. `path` is method and path; of the visit only the headers in `headersOf` are kept. */
export async function forward({ library }: SignInContext, visit: Visit, path: string, body: unknown): Promise<Answer> {
  const [method = '', rest = ''] = path.split(' ')
  const headers = headersOf(visit)
  if (method === 'POST') headers.set('content-type', 'application/json')
  const request = new Request(`${library.address}${PREFIX}${rest}`, {
    method,
    headers,
    ...(method === 'POST' ? { body: JSON.stringify(body ?? {}) } : {}),
  })
  return toAnswer(await library.withOriginalErrors(() => library.auth.handler(request)))
}

/** The headers of a visit that the library reads. */
export function headersOf({ headers, ip }: Visit): Headers {
  const kept = new Headers({ 'x-client-ip': ip })
  for (const name of ['cookie', 'user-agent', 'origin']) {
    const value = headers[name]
    if (typeof value === 'string') kept.set(name, value)
  }
  return kept
}

/** The library's response as an answer without tokens. Refuses `sign_in_required`. */
export async function toAnswer(response: Response): Promise<Answer> {
  const text = await response.text()
  const cookies = response.headers.getSetCookie()
  const headers = { 'cache-control': 'no-store', ...(cookies.length > 0 ? { 'set-cookie': cookies } : {}) }
  const body: unknown = text === '' ? null : JSON.parse(text)
  if (response.ok)
    return {
      status: response.status,
      headers: { ...headers, 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify(withoutTokens(body) ?? null),
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
 * The body without session tokens and with ids in their wire form. A token belongs only in the HttpOnly cookie: in a body, every script of
 * the page could read it.
 */
function withoutTokens(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body
  const fields = Object.entries(body).flatMap(([name, value]: [string, unknown]) => {
    if (name === 'token') return []
    if (name === 'user' || name === 'session') return [[name, withoutTokens(value)] as const]
    return [[name, isIdName(name) && typeof value === 'string' ? toWireId(value) : value] as const]
  })
  return Object.fromEntries(fields)
}

const isIdName = (name: string) => name === 'id' || name === 'userId'

/** The error codes for a wrong password, code, link or passkey. */
const WRONG_GUESSES: ReadonlySet<unknown> = new Set([
  'INVALID_EMAIL_OR_PASSWORD',
  'INVALID_PASSWORD',
  'INVALID_TOKEN',
  'INVALID_CODE',
  'CODE_USED',
  'INVALID_BACKUP_CODE',
  'PASSKEY_REFUSED',
])

/**
 * Runs an attempt and counts it against the visitor's network if it was a wrong guess. `already_exists` counts too, because it reveals who has
 * an account. Other refusals and failures are not counted. Refuses `rate_limited` after too many wrong guesses.
 */
export async function countingGuesses(
  { attempts }: SignInContext,
  visit: Visit,
  attempt: () => Promise<Answer>,
): Promise<Answer> {
  const counted = await attempts.count('password', networkOf(visit.ip))
  let isWrongGuess = false
  try {
    const answer = await attempt()
    isWrongGuess = answer.status >= 400 && WRONG_GUESSES.has((answer.body as { code?: string }).code)
    return answer
  } catch (error) {
    isWrongGuess = error instanceof Refusal && error.refusal === 'already_exists'
    throw error
  } finally {
    if (!isWrongGuess) await counted.forgive()
  }
}

/** Runs `work`, which replaces the session by a new one, and activates the old session's workspace in the new one. */
export async function keepingWorkspace(
  context: SignInContext,
  visit: Visit,
  work: () => Promise<Answer>,
): Promise<Answer> {
  const { db } = context.ground
  const before = await context.whoIs(visit.headers)
  const active = before && (await activeOrganizationOf(db, before))
  const answer = await work()
  const cookie = [answer.headers?.['set-cookie'] ?? []]
    .flat()
    .map(line => line.split(';', 1)[0])
    .join('; ')
  const after = answer.status < 400 && active ? await context.whoIs({ cookie }) : undefined
  if (active && after) await activate(db, after.session_id, active.org_id)
  return answer
}

async function activeOrganizationOf(
  db: Kysely<Tables>,
  { session_id }: Person,
): Promise<{ org_id: number } | undefined> {
  return db.selectFrom('active_organizations').select('org_id').where('session_id', '=', session_id).executeTakeFirst()
}
