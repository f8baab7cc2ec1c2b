/**
 * Connections of AI hosts. Owns `connections`: one row beside the API key that a person's consent makes. The key's rights, expiry and revocation are
 * those of any key; its secret is shown to nobody.
 */
import type { Kysely, Transaction } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Config } from '../../ground/config.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Context, Ground } from '../../ground/room.ts'
import { type Rounds, openRounds } from '../../ground/rounds.ts'
import { HOUR_MS } from '../../contract/days.ts'
import { writeGrant } from '../keys/grants.ts'
import { createKeyIn } from '../keys/keys.ts'
import * as api from './api.ts'
import { type Client, findClient, forgetUnused, isLocalRedirect, isRegistered, noteConsent } from './clients.ts'
import { deleteExpired, issueCode } from './tokens.ts'

/** Who asks, and where the browser would be sent. Refuses a request that cannot be served; nothing is sent to an address that is not registered. */
export async function readConnectionRequest(
  context: Context<typeof api.readConnectionRequest>,
  { query }: Call<typeof api.readConnectionRequest>,
) {
  const client = await checkedRequest(context, query)
  const url = new URL(query.redirect_uri)
  return {
    host_name: client.name,
    host_domain: client.domain,
    redirect_host: /^https?:$/.test(url.protocol) ? url.host : `${url.protocol}//${url.host}`,
    is_local: isLocalRedirect(url),
    denied: answerTo(query, context.origin, { error: 'access_denied' }),
  }
}

/** Makes the key with its rights and a code for the host, all or nothing. Refuses like the request and like the saving of a grant. */
export async function createConnection(
  context: Context<typeof api.createConnection>,
  { body }: Call<typeof api.createConnection>,
) {
  const { actor, db } = context
  const { request, grant, expires_at = null, ask_first } = body
  const client = await checkedRequest(context, request)
  const { user_id } = actor
  const create = async (trx: Transaction<Tables>) => {
    const key_id = await createKeyIn(trx, { user_id, name: client.name, expires_at, ask_first })
    await writeGrant(trx, actor, key_id, grant)
    await trx
      .insertInto('connections')
      .values({
        key_id,
        client_id: client.id,
        host_name: client.name,
        host_domain: client.domain,
        redirect_uri: request.redirect_uri,
      })
      .execute()
    await noteConsent(trx, client.id)
    return { key_id, code: await issueCode(trx, key_id, request.code_challenge ?? '') }
  }
  // Its history is that of the workspace in which the key acts.
  const of = db.selectFrom('organizations').select('org_id').where('id', '=', grant.organization_id)
  const { code, key_id } = await context.recorded(
    made => (made === undefined ? [] : [{ kind: 'api_key', id: made.key_id }]),
    create,
    (await of.executeTakeFirst())?.org_id,
  )
  return { redirect: answerTo(request, context.origin, { code }), key_id }
}

type Asking = { readonly db: Kysely<Tables>; readonly config: Config; readonly origin: string | undefined }

/** S256 makes 43 characters of base64url. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/

/** The client of a request that may be served. The client and its address are checked first, and their faults never lead to a redirect. */
async function checkedRequest({ db, config, origin }: Asking, request: api.AuthorizationRequest): Promise<Client> {
  if (origin === undefined) refuse('connection_request_invalid', { error: 'BASE_URL is not set' })
  const client = (await findClient(db, config, request.client_id)) ?? refuse('connection_client_unknown')
  if (!isRegistered(client, request.redirect_uri)) refuse('connection_redirect_unknown')
  const fault = faultOf(request, origin + api.RESOURCE_PATH)
  if (fault !== undefined)
    refuse('connection_request_invalid', { error: `the request of the host is invalid: ${fault}` })
  return client
}

function faultOf(request: api.AuthorizationRequest, resource: string): string | undefined {
  if (request.response_type !== 'code') return 'response_type must be code'
  if (request.code_challenge_method !== 'S256') return 'code_challenge_method must be S256'
  if (!CHALLENGE.test(request.code_challenge ?? '')) return 'code_challenge must be 43 characters of base64url'
  return request.resource === resource ? undefined : `resource must be ${resource}`
}

/** The address that gives the host its answer, with `iss` (RFC 9207), so that it can tell servers apart. */
function answerTo(
  { redirect_uri, state }: api.AuthorizationRequest,
  issuer: string | undefined,
  answer: { code: string } | { error: string },
): string {
  const url = new URL(redirect_uri)
  for (const [name, value] of Object.entries({ ...answer, state, iss: issuer }))
    if (value !== undefined) url.searchParams.set(name, value)
  return url.href
}

/** Deletes expired tokens and forgets unused clients, every hour. */
export function openForgetting({ db, log }: Ground): Rounds {
  const round = async () => {
    await deleteExpired(db)
    await forgetUnused(db)
  }
  const onError = (error: unknown) =>
    log.warn({ err: error }, 'could not delete expired tokens of connections; retrying')
  return openRounds('connections/connections', HOUR_MS, round, onError)
}
