// AI hosts that connect by OAuth: registration, consent, tokens and calls, as a host and its person send them.
import { createHash, randomBytes } from 'node:crypto'
import { ORIGIN, type TestHouse } from './house.ts'
import type { SignedIn } from './people.ts'
import { messageFor } from './tools.ts'

type Body = Record<string, unknown>
export const RESOURCE = `${ORIGIN}/mcp`
export const REDIRECT = 'https://host.example/callback'
/** The dashboard's own name. */
export const HOST = { host: new URL(ORIGIN).host }

export const newVerifier = () => randomBytes(32).toString('base64url')
export const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')

export type Asked = { client_id: string; verifier: string; request: Record<string, string> }

const definedOf = (fields: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).filter((one): one is [string, string] => one[1] !== undefined))

export const grantOf = (person: SignedIn, rights: Body = { read: ['clicks'], write: ['offers'] }) => ({
  organization_id: person.organization_id,
  read: [],
  write: [],
  delete: [],
  ...rights,
})

export const codeIn = (redirect: unknown) => new URL(String(redirect)).searchParams.get('code') ?? ''

let networks = 0

/** Tool calls by access token. */
function callsAt(house: TestHouse) {
  const call = (sent: unknown, method: string, params?: Body) => {
    const token = sent as string | undefined
    const { headers, body } = messageFor(method, params)
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
    return house.call('POST', '/mcp', { body, headers: { ...HOST, ...headers, ...authorization } })
  }
  const createOffer = (token: unknown) =>
    call(token, 'tools/call', {
      name: 'service_create_offer',
      arguments: { name: 'By host', url: 'https://o.example/' },
    })
  return { call, createOffer }
}

/** The calls of hosts to this house, and the consent of `owner`. */
export function hostsAt(house: TestHouse, owner: SignedIn) {
  const register = async (redirect_uris = [REDIRECT], more: Body = {}) =>
    house.call('POST', '/oauth/register', {
      payload: JSON.stringify({ client_name: 'Claude', redirect_uris, ...more }),
      headers: HOST,
      // Registrations are limited by network.
      from: `100.64.${(networks += 1)}.1`,
    })

  const form = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    house.call('POST', path, {
      payload: new URLSearchParams(fields).toString(),
      headers: { ...HOST, 'content-type': 'application/x-www-form-urlencoded', ...headers },
    })

  async function asked(changes: Record<string, string | undefined> = {}): Promise<Asked> {
    const verifier = newVerifier()
    const client_id = String((await register()).data()['client_id'])
    const request = {
      client_id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      code_challenge: challengeOf(verifier),
      code_challenge_method: 'S256',
      resource: RESOURCE,
      state: 'xyz',
      ...changes,
    }
    return { client_id, verifier, request: definedOf(request) }
  }

  const consent = (request: Body, person = owner, grant: Body = grantOf(person), more: Body = {}) =>
    house.call('POST', '/api/connections', { ...person, body: { request, grant, ...more } })

  const exchange = ({ client_id, verifier }: Asked, code: string, changes: Record<string, string | undefined> = {}) =>
    form(
      '/oauth/token',
      definedOf({
        grant_type: 'authorization_code',
        code,
        client_id,
        code_verifier: verifier,
        redirect_uri: REDIRECT,
        resource: RESOURCE,
        ...changes,
      }),
    )

  const renew = (client_id: string, refresh_token: unknown, changes: Record<string, string> = {}) =>
    form('/oauth/token', {
      grant_type: 'refresh_token',
      refresh_token: String(refresh_token),
      client_id,
      resource: RESOURCE,
      ...changes,
    })

  /** A connected host: its key, client and tokens. */
  async function connected(grant?: Body) {
    const ask = await asked()
    const answer = (await consent(ask.request, owner, grant ?? grantOf(owner))).data()
    const tokens = (await exchange(ask, codeIn(answer['redirect']))).data()
    return { ...ask, key_id: String(answer['key_id']), redirect: String(answer['redirect']), tokens }
  }

  return { register, form, asked, consent, exchange, renew, connected, ...callsAt(house) }
}
