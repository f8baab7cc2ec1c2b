/** Calls the Bot API. The token is part of its addresses, so no error of a call is passed on as it is. */
import type { ApiMethods } from '@grammyjs/types'
import { request } from 'undici'
import { fieldsOf } from '../../contract/json.ts'
import { isPrivateHost } from '../../ground/guard.ts'

type Methods = ApiMethods<never>
type Params<M extends keyof Methods> = Parameters<Methods[M]>[0]

/**
 * Why a call came to nothing. `token`: no bot has this token. `refused`: Telegram says no, in `description`. `later`: too many calls, to be sent
 * again after `retry_after` seconds. `unsent`: not a byte of it has left. `unknown`: it may have happened, or not.
 */
export type Failure = {
  readonly ok: false
  readonly kind: 'token' | 'refused' | 'later' | 'unsent' | 'unknown'
  readonly description: string
  readonly retry_after?: number
}
type TelegramAnswer = { readonly ok: true; readonly result: unknown } | Failure

const DEADLINE_MS = 10_000
/** Said where nothing came back. */
export const AWAY = 'Telegram could not be reached'

/** Errors before a connection stands. */
const UNSENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Calls one method, ten seconds at most. Never throws: a Telegram that is away is an answer too. */
export async function callTelegram<M extends keyof Methods>(
  root: string,
  token: string,
  method: M,
  ...[params]: undefined extends Params<M> ? [params?: Params<M>] : [params: Params<M>]
): Promise<TelegramAnswer> {
  try {
    const { statusCode, body } = await request(`${root}/bot${token}/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(params ?? {}),
      signal: AbortSignal.timeout(DEADLINE_MS),
    })
    return answerOf(fieldsOf(await body.json()), statusCode, token)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    return { ok: false, kind: UNSENT.has(code) ? 'unsent' : 'unknown', description: AWAY }
  }
}

function answerOf(answer: Readonly<Record<string, unknown>>, statusCode: number, token: string): TelegramAnswer {
  if (answer['ok'] === true) return { ok: true, result: answer['result'] }
  const { description: said, error_code, parameters } = answer
  const description = typeof said === 'string' ? said.slice(0, 500).replaceAll(token, '…') : `HTTP ${statusCode}`
  const retry_after = Number(fieldsOf(parameters)['retry_after'])
  if (error_code === 429)
    return { ok: false, kind: 'later', description, retry_after: Number.isFinite(retry_after) ? retry_after : 1 }
  // A token of the right form that is nobody's gets 401, one of another form 404.
  if (error_code === 401 || error_code === 404) return { ok: false, kind: 'token', description }
  return { ok: false, kind: statusCode >= 500 ? 'unknown' : 'refused', description }
}

/** Whether it says nothing of what was asked, so that it is worth asking again. */
export const isAway = ({ kind }: Failure): boolean => kind === 'later' || kind === 'unsent' || kind === 'unknown'

/** The ports Telegram calls. */
const PORTS = new Set(['', '443', '80', '88', '8443'])

/** True where Telegram can reach us: https, a public host, one of its ports. */
export function isReachable(baseUrl: string | undefined): baseUrl is string {
  const url = baseUrl === undefined ? null : URL.parse(baseUrl)
  return url !== null && url.protocol === 'https:' && PORTS.has(url.port) && !isPrivateHost(url.hostname)
}
