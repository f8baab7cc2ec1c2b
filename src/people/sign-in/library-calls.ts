/**
 * How the sign-in library is asked, and its answers in ours: a request is built anew with nothing of the visit but what it needs, and what it
 * answers beyond its fields, session tokens above all, does not leave.
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

export type Desk = {
  readonly ground: Ground
  readonly library: ReturnType<typeof openLibrary>
  readonly attempts: Attempts
  readonly whoIs: (headers: Visit['headers']) => Promise<Person | undefined>
}

export const PREFIX = '/api/auth'

/** The person behind the visit. Refuses `sign_in_required`. */
export async function personOf({ whoIs }: Desk, { headers }: Visit): Promise<Person> {
  return (await whoIs(headers)) ?? refuse('sign_in_required')
}

/** Lets the library answer one of its paths. The request is built anew, with nothing of the visit but what `headersOf` keeps. */
export async function forward({ library }: Desk, visit: Visit, path: string, body: unknown): Promise<Answer> {
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

/** Of the headers of a visit those the library looks at. */
export function headersOf({ headers, ip }: Visit): Headers {
  const kept = new Headers({ 'x-client-ip': ip })
  for (const name of ['cookie', 'user-agent', 'origin']) {
    const value = headers[name]
    if (typeof value === 'string') kept.set(name, value)
  }
  return kept
}

/** What the library answered, as it may leave. Refuses `sign_in_required`. */
export async function toAnswer(response: Response): Promise<Answer> {
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

/** What the answer to a wrong password, code, link or passkey says. */
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
 * Counts the attempt against the visitor's network where it was a wrong guess. `already_exists` counts too, because it tells who has an
 * account. Whatever else is refused or fails is not counted. Refuses `rate_limited` after too many wrong guesses.
 */
export async function guarded({ attempts }: Desk, visit: Visit, attempt: () => Promise<Answer>): Promise<Answer> {
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

/** Does what replaces this session by a new one, and lets the new one act where this one did. */
export async function keepingPlace(desk: Desk, visit: Visit, work: () => Promise<Answer>): Promise<Answer> {
  const { db } = desk.ground
  const before = await desk.whoIs(visit.headers)
  const acting = before && (await placeOf(db, before))
  const answer = await work()
  const cookie = [answer.headers?.['set-cookie'] ?? []]
    .flat()
    .map(line => line.split(';', 1)[0])
    .join('; ')
  const after = answer.status < 400 && acting ? await desk.whoIs({ cookie }) : undefined
  if (acting && after) await activate(db, after.session_id, acting.org_id)
  return answer
}

async function placeOf(db: Kysely<Tables>, { session_id }: Person): Promise<{ org_id: number } | undefined> {
  return db.selectFrom('active_organizations').select('org_id').where('session_id', '=', session_id).executeTakeFirst()
}
