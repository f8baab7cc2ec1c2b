/** Calls the Bot API. The token is part of its addresses, so no error of a call is passed on as it is. */
import { request } from 'undici'
import { fieldsOf } from '../../contract/json.ts'
import { isPrivateHost } from '../../ground/guard.ts'

/** What was answered: the result, or why not. `isTokenUnknown`: no bot has this token. */
type TelegramAnswer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly isTokenUnknown: boolean; readonly description: string }

const DEADLINE_MS = 10_000

/** Calls one method, ten seconds at most. Never throws: a Telegram that is away is an answer too. */
export async function callTelegram(
  root: string,
  token: string,
  method: 'getMe' | 'setWebhook' | 'deleteWebhook',
  params: Readonly<Record<string, unknown>> = {},
): Promise<TelegramAnswer> {
  try {
    const { statusCode, body } = await request(`${root}/bot${token}/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(params),
      signal: AbortSignal.timeout(DEADLINE_MS),
    })
    const answer = fieldsOf(await body.json())
    if (answer['ok'] === true) return { ok: true, result: answer['result'] }
    const { description, error_code } = answer
    return {
      ok: false,
      // A token of the right form that is nobody's gets 401, one of another form 404.
      isTokenUnknown: error_code === 401 || error_code === 404,
      description:
        typeof description === 'string' ? description.slice(0, 500).replaceAll(token, '…') : `HTTP ${statusCode}`,
    }
  } catch {
    return { ok: false, isTokenUnknown: false, description: 'Telegram could not be reached' }
  }
}

/** The ports Telegram calls. */
const PORTS = new Set(['', '443', '80', '88', '8443'])

/** True where Telegram can reach us: https, a public host, one of its ports. */
export function isReachable(baseUrl: string | undefined): baseUrl is string {
  const url = baseUrl === undefined ? null : URL.parse(baseUrl)
  return url !== null && url.protocol === 'https:' && PORTS.has(url.port) && !isPrivateHost(url.hostname)
}
