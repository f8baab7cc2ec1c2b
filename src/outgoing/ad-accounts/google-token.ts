/**
 * Access tokens of Google's service accounts: a signed statement of who asks is exchanged for a token that lives an hour. One is kept
 * per key until shortly before it ends, and calls that need one at the same time share the asking.
 */
import { hash, sign } from 'node:crypto'
import { fieldsOf } from '../../contract/json.ts'
import type { Answer, Fetch, Judgement } from '../deliveries/lane.ts'
import { jsonOf, unreadable } from './adapter.ts'

const SCOPE = 'https://www.googleapis.com/auth/datamanager'
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const LIVES_S = 3600
/** A token is renewed this long before its end, so that none ends on its way. */
const SPARE_MS = 300_000

type ServiceAccount = {
  readonly client_email: string
  readonly private_key: string
  readonly private_key_id?: string
}

export type GoogleTokens = {
  /** A token for the key (the JSON as Google gave it), or what becomes of a delivery without one. */
  tokenFor(key: string, fetch: Fetch): Promise<string | Judgement>
  /** The platform has refused it: the next call gets a new one. */
  forget(key: string): void
}

type Kept = { readonly token: string; readonly until_ms: number }

/** `tokenUrl` is whom tokens are asked of, and whom the statement is made for. */
export function openGoogleTokens(tokenUrl: string): GoogleTokens {
  const kept = new Map<string, Kept>()
  const asked = new Map<string, Promise<Kept | Judgement>>()

  const ask = async (name: string, key: string, fetch: Fetch) => {
    try {
      const learned = await exchange(tokenUrl, key, fetch)
      if ('token' in learned) kept.set(name, learned)
      return learned
    } finally {
      asked.delete(name)
    }
  }

  return {
    async tokenFor(key, fetch) {
      const name = hash('sha256', key)
      const held = kept.get(name)
      if (held !== undefined && held.until_ms - SPARE_MS > Date.now()) return held.token
      const asking = asked.get(name) ?? ask(name, key, fetch)
      if (!asked.has(name)) asked.set(name, asking)
      const learned = await asking
      return 'token' in learned ? learned.token : learned
    },
    forget: key => void kept.delete(hash('sha256', key)),
  }
}

async function exchange(url: string, key: string, fetch: Fetch): Promise<Kept | Judgement> {
  const asked_ms = Date.now()
  const assertion = statementOf(serviceAccountOf(key), url, Math.floor(asked_ms / 1000))
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
  return faultOf(answer, body, assertion)
}

/** A refused statement stays refused: the key was deleted, its account disabled, or this machine's clock is wrong. */
function faultOf(answer: Answer, body: Readonly<Record<string, unknown>> | undefined, assertion: string): Judgement {
  const { error, error_description } = body ?? {}
  const isRefused = answer.status !== null && answer.status >= 400 && answer.status < 500 && answer.status !== 429
  if (!isRefused || typeof error !== 'string') return unreadable(answer)
  const words = typeof error_description === 'string' ? `${error}: ${error_description}` : error
  return { outcome: 'broken', reason: `Google gives no access token: ${words.replaceAll(assertion, '[secret]')}` }
}

/** The key's parts. @throws SyntaxError or TypeError for what was never a key; those are refused when an account is made. */
export function serviceAccountOf(key: string): ServiceAccount {
  const { client_email, private_key, private_key_id } = fieldsOf(JSON.parse(key))
  if (typeof client_email !== 'string' || typeof private_key !== 'string') throw new TypeError('not a service account')
  return { client_email, private_key, ...(typeof private_key_id === 'string' ? { private_key_id } : {}) }
}

/** A JWT signed by the account's key (RFC 7523). */
function statementOf({ client_email, private_key, private_key_id }: ServiceAccount, aud: string, iat: number): string {
  const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const head = encoded({ alg: 'RS256', typ: 'JWT', ...(private_key_id === undefined ? {} : { kid: private_key_id }) })
  const claims = encoded({ iss: client_email, scope: SCOPE, aud, iat, exp: iat + LIVES_S })
  const signature = sign('RSA-SHA256', Buffer.from(`${head}.${claims}`), private_key).toString('base64url')
  return `${head}.${claims}.${signature}`
}
