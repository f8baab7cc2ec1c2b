/** Calls the Bot API. The token is part of its URLs, so errors of a call are never returned unchanged. */
import type { ApiMethods } from '@grammyjs/types'
import { request } from 'undici'
import { MINUTE_MS } from '../../contract/days.ts'
import { fieldsOf } from '../../contract/json.ts'
import { isPrivateHost } from '../../ground/guard.ts'

type Methods = ApiMethods<never>
type Params<M extends keyof Methods> = Parameters<Methods[M]>[0]

/**
 * Why a call failed. `token`: no bot has this token. `refused`: Telegram rejected it, see `description`. `later`: rate limited, retry after
 * `retry_after` seconds. `unsent`: nothing was sent. `unknown`: it may have taken effect. `migrate_to_chat_id`: the new id of a group that has
 * become a supergroup.
 */
export type Failure = {
  readonly ok: false
  readonly kind: 'token' | 'refused' | 'later' | 'unsent' | 'unknown'
  readonly description: string
  readonly retry_after?: number
  readonly migrate_to_chat_id?: string
}
type TelegramAnswer = { readonly ok: true; readonly result: unknown } | Failure

const DEADLINE_MS = 10_000
/** The pause before a retry if Telegram did not answer. */
export const AWAY_MS = MINUTE_MS
export const AWAY = 'Telegram could not be reached'

/** Errors before a connection is established. */
const UNSENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Calls one method, with a deadline of ten seconds. Never throws: an unreachable Telegram is returned as a failure. */
export const callTelegram = <M extends keyof Methods>(
  root: string,
  token: string,
  method: M,
  ...params: undefined extends Params<M> ? [params?: Params<M>] : [params: Params<M>]
): Promise<TelegramAnswer> => callWithin(DEADLINE_MS, root, token, method, ...params)

/** The same with a deadline of `deadline_ms`. */
export async function callWithin<M extends keyof Methods>(
  deadline_ms: number,
  root: string,
  token: string,
  method: M,
  ...[params]: undefined extends Params<M> ? [params?: Params<M>] : [params: Params<M>]
): Promise<TelegramAnswer> {
  try {
    const { statusCode, headers, body } = await request(`${root}/bot${token}/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(params ?? {}),
      signal: AbortSignal.timeout(deadline_ms),
    })
    const said = fieldsOf(parsed(await body.text()))
    // No JSON means that a proxy answered. Its 429 still counts as a rate limit.
    if (Object.keys(said).length === 0 && statusCode !== 429) return { ok: false, kind: 'unknown', description: AWAY }
    return answerOf(said, { statusCode, token, method, after: headers['retry-after'] })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    return { ok: false, kind: UNSENT.has(code) ? 'unsent' : 'unknown', description: AWAY }
  }
}

/** Undefined for invalid JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type SentCall = { statusCode: number; token: string; method: string; after: string | string[] | undefined }

function answerOf(
  answer: Readonly<Record<string, unknown>>,
  { statusCode, token, method, after }: SentCall,
): TelegramAnswer {
  if (answer['ok'] === true) return { ok: true, result: answer['result'] }
  const { description: said, parameters } = answer
  const code = answer['error_code'] ?? statusCode
  const description = typeof said === 'string' ? said.slice(0, 500).replaceAll(token, '…') : `HTTP ${statusCode}`
  const retry_after = Number(fieldsOf(parameters)['retry_after'] ?? after)
  if (code === 429)
    return { ok: false, kind: 'later', description, retry_after: Number.isFinite(retry_after) ? retry_after : 1 }
  // Telegram answers 401 to an unknown token, and 404 to a malformed token or an unknown method.
  if (code === 401 || (code === 404 && method === 'getMe')) return { ok: false, kind: 'token', description }
  const kind = statusCode >= 500 ? 'unknown' : 'refused'
  const { migrate_to_chat_id: to } = fieldsOf(parameters)
  return { ok: false, kind, description, ...(Number.isSafeInteger(to) ? { migrate_to_chat_id: String(to) } : {}) }
}

/** Whether the failure says nothing about the call itself, so that a retry makes sense. */
export const isAway = ({ kind }: Failure): boolean => kind === 'later' || kind === 'unsent' || kind === 'unknown'

/** The ports Telegram sends updates to. */
const PORTS = new Set(['', '443', '80', '88', '8443'])

/** Whether Telegram can reach Sluice: https, a public host, and one of its ports. */
export function isReachable(baseUrl: string | undefined): baseUrl is string {
  const url = baseUrl === undefined ? null : URL.parse(baseUrl)
  return url !== null && url.protocol === 'https:' && PORTS.has(url.port) && !isPrivateHost(url.hostname)
}
