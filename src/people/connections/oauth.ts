/** The endpoints of OAuth for AI hosts: metadata, registration, tokens. Form-encoded requests and OAuth's own refusals. Owns no table. */
import type { z } from 'zod'
import { newId } from '../../contract/ids.ts'
import { Refusal } from '../../contract/refusals.ts'
import { dashboardOrigin, wideNetworkOf } from '../../ground/network.ts'
import type { Answer, Ground, Visit } from '../../ground/room.ts'
import type { Attempts } from '../accounts/attempts.ts'
import type { Recorder } from '../history/recorder.ts'
import { rememberedHost } from '../keys/hosts.ts'
import { rereadKeys } from '../keys/verify.ts'
import { AUTHORIZE_PATH, CONSENT_PATH, RESOURCE_PATH } from './api.ts'
import { ClientDraft, register } from './clients.ts'
import { endConnection, exchangeCode, keyToRevoke, refresh } from './tokens.ts'

const NOT_CACHED = { 'cache-control': 'no-store' }
const refused = (error: string, error_description: string, status = 400): Answer => ({
  status,
  headers: NOT_CACHED,
  body: { error, error_description },
})

/** Connections exist under the dashboard's own name only. Elsewhere nothing tells that they do. */
function withBase(answer: (base: string, ground: Ground, visit: Visit) => Answer | Promise<Answer>) {
  return async (ground: Ground, visit: Visit): Promise<Answer> => {
    const { host } = visit.headers
    const base = dashboardOrigin(ground.config.baseUrl, typeof host === 'string' ? host : undefined)
    if (visit.host.is !== 'main' || base === undefined)
      return { ...refused('not_found', 'not found', 404), is_unknown: true }
    return answer(base, ground, visit)
  }
}

/** The deeds of the endpoints. */
export function oauthDeeds(attempts: Attempts, recorder: () => Pick<Recorder, 'recordedIn'>) {
  return {
    readResourceMetadata: withBase(base => ({
      status: 200,
      headers: NOT_CACHED,
      body: {
        resource: base + RESOURCE_PATH,
        resource_name: 'Sluice',
        authorization_servers: [base],
        bearer_methods_supported: ['header'],
      },
    })),
    readServerMetadata: withBase(base => ({
      status: 200,
      headers: NOT_CACHED,
      body: {
        issuer: base,
        authorization_endpoint: base + AUTHORIZE_PATH,
        token_endpoint: `${base}/oauth/token`,
        registration_endpoint: `${base}/oauth/register`,
        revocation_endpoint: `${base}/oauth/revoke`,
        response_types_supported: ['code'],
        response_modes_supported: ['query'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
        revocation_endpoint_auth_methods_supported: ['none'],
        authorization_response_iss_parameter_supported: true,
        client_id_metadata_document_supported: true,
      },
    })),
    beginAuthorization: withBase((base, _ground, { url }) => {
      const [, query = ''] = url.split(/\?(.*)/s)
      const request = Buffer.from(query).toString('base64url')
      return { status: 302, headers: { ...NOT_CACHED, location: `${base}${CONSENT_PATH}?request=${request}` } }
    }),
    registerClient: withBase((_base, ground, visit) => registered(ground, visit, attempts)),
    exchangeToken: withBase((base, ground, visit) => exchanged(base, ground, visit, recorder)),
    revokeToken: withBase(async (_base, ground, visit) => {
      const form = formOf(visit)
      const key_id = await keyToRevoke(ground.db, form.get('token') ?? '', form.get('client_id') ?? '')
      if (key_id !== undefined) await endRecorded(ground, visit, recorder(), { key_id, isTheft: false })
      return { status: 200, headers: NOT_CACHED }
    }),
  }
}

/** Ends the connection, and records in the history that its host did, or Sluice because a code or token was used twice. */
async function endRecorded(
  ground: Ground,
  { ip }: Visit,
  { recordedIn }: Pick<Recorder, 'recordedIn'>,
  { key_id, isTheft }: { readonly key_id: string; readonly isTheft: boolean },
): Promise<void> {
  const { db } = ground
  const record = (await rereadKeys(ground.database.keys, [key_id])).get(key_id)
  if (record === undefined) return
  const { user_id, org_id, organization_id, read_at } = record
  if (org_id === null || organization_id === null)
    return await db.transaction().execute(trx => endConnection(trx, key_id))
  const place = { user_id, org_id, organization_id }
  const actor = { kind: 'key', key_id, ...place, campaigns: null, through: 'http', read_at } as const
  const host = await rememberedHost(db, key_id)
  const own = { kind: 'sluice', because: 'schedule' } as const
  const act = { act_id: newId(), actor: isTheft ? own : ({ kind: 'key', id: key_id, tool: null, host } as const) }
  const circumstances = {
    ip,
    origin: undefined,
    idempotency_key: undefined,
    arrived_at: read_at,
    header: () => undefined,
  }
  await recordedIn({ ...ground, ...circumstances, actor, act })(
    () => [{ kind: 'api_key', id: key_id }],
    trx => endConnection(trx, key_id),
  )
}

async function registered({ db }: Ground, visit: Visit, attempts: Attempts): Promise<Answer> {
  let sent: unknown
  try {
    sent = JSON.parse(bodyOf(visit))
  } catch {
    return refused('invalid_client_metadata', 'the body is not JSON')
  }
  const read = ClientDraft.safeParse(sent)
  if (!read.success) return refused(faultOf(read.error), read.error.issues[0]?.message ?? 'invalid')
  try {
    await attempts.count('client', wideNetworkOf(visit.ip))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const answer = refused('temporarily_unavailable', 'too many registrations from this network', 429)
    return { ...answer, headers: { ...NOT_CACHED, ...error.detail.headers } }
  }
  const client = await register(db, read.data)
  return {
    status: 201,
    headers: NOT_CACHED,
    body: {
      client_id: client.id,
      client_id_issued_at: Math.floor(Date.parse(client.created_at) / 1000),
      client_name: client.name,
      redirect_uris: client.redirect_uris,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
  }
}

const faultOf = ({ issues }: z.ZodError): string =>
  issues[0]?.path[0] === 'redirect_uris' ? 'invalid_redirect_uri' : 'invalid_client_metadata'

async function exchanged(
  base: string,
  ground: Ground,
  visit: Visit,
  recorder: () => Pick<Recorder, 'recordedIn'>,
): Promise<Answer> {
  const { db } = ground
  const form = formOf(visit)
  const twice = [...new Set(form.keys())].find(name => form.getAll(name).length > 1)
  if (twice !== undefined) return refused('invalid_request', `${twice} was sent twice`)
  const resource = form.get('resource')
  if (resource !== null && resource !== base + RESOURCE_PATH)
    return refused('invalid_target', `tokens are for ${base + RESOURCE_PATH} only`)
  const client_id = form.get('client_id') ?? ''
  const type = form.get('grant_type')
  if (type !== 'authorization_code' && type !== 'refresh_token')
    return refused('unsupported_grant_type', 'authorization_code or refresh_token')
  const tokens =
    type === 'refresh_token'
      ? await refresh(db, form.get('refresh_token') ?? '', client_id)
      : await exchangeCode(db, {
          code: form.get('code') ?? '',
          verifier: form.get('code_verifier') ?? '',
          client_id,
          redirect_uri: form.get('redirect_uri') ?? undefined,
        })
  const isTheft = tokens !== undefined && 'stolen_key_id' in tokens
  if (isTheft) await endRecorded(ground, visit, recorder(), { key_id: tokens.stolen_key_id, isTheft })
  if (tokens === undefined || isTheft)
    return refused('invalid_grant', 'the code or token is unknown, used, expired, revoked or not of this client')
  return { status: 200, headers: { ...NOT_CACHED, pragma: 'no-cache' }, body: tokens }
}

const bodyOf = ({ body }: Visit): string => (Buffer.isBuffer(body) ? body.toString('utf8') : '')
const formOf = (visit: Visit): URLSearchParams => new URLSearchParams(bodyOf(visit))
