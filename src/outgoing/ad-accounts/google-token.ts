/**
 * Access tokens of Google's service accounts: a signed JWT is exchanged for a token that is valid for an hour. A token is cached per key until
 * shortly before it expires, and simultaneous calls share one request.
 */
import { hash, sign } from 'node:crypto'
import { fieldsOf } from '../../contract/json.ts'
import type { CallAnswer, FetchAnswer, Judgement } from '../deliveries/lane.ts'
import { type AccessTokens, jsonOf, judgeUnreadable } from './adapter.ts'

const SCOPE = 'https://www.googleapis.com/auth/datamanager'
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const LIFETIME_S = 3600
/** A token is renewed this long before it expires, so that none expires in flight. */
const SPARE_MS = 300_000

type ServiceAccount = {
  readonly client_email: string
  readonly private_key: string
  readonly private_key_id?: string
}

type CachedToken = { readonly token: string; readonly until_ms: number }

/** Opens a token cache. `tokenUrl` is the endpoint that issues tokens, and the audience of the JWT. */
export function openGoogleTokens(tokenUrl: string): AccessTokens {
  const cache = new Map<string, CachedToken>()
  const pending = new Map<string, Promise<CachedToken | Judgement>>()

  const requestToken = async (name: string, key: string, fetch: FetchAnswer) => {
    try {
      const result = await exchange(tokenUrl, key, fetch)
      if ('token' in result) cache.set(name, result)
      return result
    } finally {
      pending.delete(name)
    }
  }

  return {
    async tokenFor(key, fetch) {
      const name = hash('sha256', key)
      const cached = cache.get(name)
      if (cached !== undefined && cached.until_ms - SPARE_MS > Date.now()) return cached.token
      const request = pending.get(name) ?? requestToken(name, key, fetch)
      if (!pending.has(name)) pending.set(name, request)
      const result = await request
      return 'token' in result ? result.token : result
    },
    forget: key => void cache.delete(hash('sha256', key)),
  }
}

async function exchange(url: string, key: string, fetch: FetchAnswer): Promise<CachedToken | Judgement> {
  const asked_ms = Date.now()
  const assertion = signedJwt(serviceAccountOf(key), url, Math.floor(asked_ms / 1000))
  const answer = await fetch({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: GRANT, assertion }).toString(),
    isTrusted: true,
    secrets: [assertion],
  })
  const body = jsonOf(answer)
  const { access_token, expires_in } = body ?? {}
  if (answer.status === 200 && typeof access_token === 'string' && access_token !== '')
    return { token: access_token, until_ms: asked_ms + Number(expires_in ?? 0) * 1000 }
  return judgeRefusal(answer, body, assertion)
}

/** A refused JWT breaks the account: the key was deleted, its service account disabled, or this machine's clock is wrong. */
function judgeRefusal(
  answer: CallAnswer,
  body: Readonly<Record<string, unknown>> | undefined,
  assertion: string,
): Judgement {
  const { error, error_description } = body ?? {}
  const isRefused = answer.status !== null && answer.status >= 400 && answer.status < 500 && answer.status !== 429
  if (!isRefused || typeof error !== 'string') return judgeUnreadable(answer)
  const words = typeof error_description === 'string' ? `${error}: ${error_description}` : error
  return { outcome: 'broken', reason: `Google issued no access token: ${words.replaceAll(assertion, '[secret]')}` }
}

/** The parts of a key. @throws SyntaxError or TypeError for an invalid key, which `createAdAccount` refuses. */
export function serviceAccountOf(key: string): ServiceAccount {
  const { client_email, private_key, private_key_id } = fieldsOf(JSON.parse(key))
  if (typeof client_email !== 'string' || typeof private_key !== 'string') throw new TypeError('not a service account')
  return { client_email, private_key, ...(typeof private_key_id === 'string' ? { private_key_id } : {}) }
}

/** A JWT signed by the account's key (RFC 7523). */
function signedJwt({ client_email, private_key, private_key_id }: ServiceAccount, aud: string, iat: number): string {
  const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const head = encoded({ alg: 'RS256', typ: 'JWT', ...(private_key_id === undefined ? {} : { kid: private_key_id }) })
  const claims = encoded({ iss: client_email, scope: SCOPE, aud, iat, exp: iat + LIFETIME_S })
  const signature = sign('RSA-SHA256', Buffer.from(`${head}.${claims}`), private_key).toString('base64url')
  return `${head}.${claims}.${signature}`
}
