/**
 * `POST /api/mcp` and `POST /mcp`. This file makes the refusals of the transport: method, Origin, size, key and malformed messages. Every request carries a
 * key or a connection's token; there are no sessions and no cookies. Pages of other origins may call `POST /mcp`, because they act with their token only.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Endpoint, routeOf } from '../contract/endpoint.ts'
import { Refusal, refusalBody } from '../contract/refusals.ts'
import { loggedDuration } from '../gate/access-log.ts'
import { refusalFor } from '../gate/answer.ts'
import { allowOrigins, answerPreflight } from '../gate/cors.ts'
import { prepareBody } from '../gate/read.ts'
import { type Identities, keyOf, verified } from '../gate/identify.ts'
import { isOwnOrigin } from '../gate/origin.ts'
import { dashboardOrigin } from '../ground/network.ts'
import type { Declared, Ground } from '../ground/room.ts'
import { RESOURCE_PATH } from '../people/connections/api.ts'
import { hostIn, rememberHost } from '../people/keys/hosts.ts'
import type { KeyRecord } from '../people/keys/verify.ts'
import * as api from './api.ts'
import { openProtocol, type Protocol } from './protocol.ts'

/** -32000 to -32002 are defined by the contract, the others by JSON-RPC. */
const CODES = {
  transport: -32_000,
  keyNotAccepted: -32_001,
  keyNotRead: -32_002,
  parse: -32_700,
  invalidRequest: -32_600,
  unknownMethod: -32_601,
  internal: -32_603,
} as const

type Door = { readonly ground: Ground; readonly identities: Identities }
type Entrance = {
  readonly endpoint: Endpoint
  readonly admit: (request: FastifyRequest, door: Door) => Promise<KeyRecord>
}

/** The two addresses of the tools: for keys, and for hosts that a person connected by OAuth. */
const ENTRANCES: readonly (Entrance & { readonly name: string })[] = [
  { name: 'callTools', endpoint: api.callTools, admit: admitKey },
  { name: 'callToolsAsConnection', endpoint: api.callToolsAsConnection, admit: admitConnection },
]

/** Registers the routes and returns their declarations. */
export function serveTools(app: FastifyInstance, door: Door, version: string): Declared[] {
  const protocol = openProtocol(app, door.ground, { name: 'sluice', title: 'Sluice', version })
  app.addHook('onClose', () => protocol.close())
  for (const entrance of ENTRANCES) serveAt(app, door, protocol, entrance)
  return ENTRANCES.map(({ name, endpoint }) => ({ name, endpoint }))
}

function serveAt(app: FastifyInstance, door: Door, protocol: Protocol, { endpoint, admit }: Entrance): void {
  const { path } = routeOf(endpoint)
  const config = { endpoint }
  void app.register(async scope => {
    scope.setErrorHandler((error, _request, reply) => answerError(error, reply, door.ground, endpoint.route))
    scope.route({
      method: 'POST',
      url: path,
      config,
      onRequest: async (request, reply) => {
        allowOrigins(endpoint, request, reply)
        request.caller = { kind: 'key', record: await admit(request, door) }
      },
      handler: (request, reply) => receive(protocol, request, reply, door.ground),
    })
    if (endpoint.cors !== undefined) answerPreflight(scope, endpoint)
    const answered = endpoint.cors === undefined ? ['POST'] : ['POST', 'OPTIONS']
    scope.route({
      method: app.supportedMethods.filter(method => !answered.includes(method)),
      url: path,
      config,
      onRequest: async (request, reply) => {
        allowOrigins(endpoint, request, reply)
        return refuseMethod(reply)
      },
      handler: (_request, reply) => refuseMethod(reply),
    })
  })
}

/** A refusal of the transport, with its JSON-RPC error code and the data of the body. */
class TransportRefusal extends Error {
  readonly status: number
  readonly code: number
  readonly detail: { code: string; hint: string } | undefined
  /** The value of WWW-Authenticate, if the answer has one. */
  challenge: string | undefined
  constructor(status: number, code: number, message: string, detail?: { code: string; hint: string }) {
    super(message)
    this.status = status
    this.code = code
    this.detail = detail
  }
}

function requireOwnOrigin(request: FastifyRequest, baseUrl: string | undefined): void {
  const { origin, host } = request.headers
  if (origin !== undefined && !isOwnOrigin(origin, host, baseUrl))
    throw new TransportRefusal(
      403,
      CODES.transport,
      'Origin not allowed: AI hosts send none, and only the dashboard’s own pages may send one.',
    )
}

/** The key behind the access token. Without a good token the refusal says where a host begins to connect (RFC 9728). */
async function admitConnection(request: FastifyRequest, { ground, identities }: Door): Promise<KeyRecord> {
  const base = dashboardOrigin(ground.config.baseUrl, request.headers.host)
  if (request.visited.is !== 'main' || base === undefined)
    throw new TransportRefusal(404, CODES.transport, 'Not found: connections exist at the address of the dashboard.')
  prepareBody(request)
  const [, token] = /^Bearer ([\w.~+/-]{1,200}=*)$/i.exec(request.headers.authorization ?? '') ?? []
  let record: KeyRecord | undefined
  try {
    record = token === undefined ? undefined : await identities.verifyToken(token)
  } catch {
    throw new TransportRefusal(503, CODES.keyNotRead, 'The token could not be verified at this moment.')
  }
  if (record?.accepted) return record
  const refusal = new TransportRefusal(401, CODES.keyNotAccepted, 'An access token of a connection is required.')
  const metadata = `resource_metadata="${base}/.well-known/oauth-protected-resource${RESOURCE_PATH}"`
  refusal.challenge = `Bearer ${metadata}${token === undefined ? '' : ', error="invalid_token"'}`
  throw refusal
}

async function admitKey(request: FastifyRequest, { ground, identities }: Door): Promise<KeyRecord> {
  requireOwnOrigin(request, ground.config.baseUrl)
  prepareBody(request)
  const secret = keyOf(request.headers)
  if (secret === undefined) throw keyRefusal('api_key_required')
  try {
    return await verified(api.callTools, secret, identities)
  } catch (error) {
    throw error instanceof Refusal && error.refusal === 'key_not_accepted'
      ? keyRefusal('key_not_accepted')
      : new TransportRefusal(503, CODES.keyNotRead, 'The key could not be verified at this moment.', {
          code: 'key_unverifiable',
          hint: 'The key was not refused. Keep it and try again.',
        })
  }
}

function keyRefusal(name: 'api_key_required' | 'key_not_accepted'): TransportRefusal {
  const { error, code = '', hint = '' } = refusalBody(new Refusal(name), 'reads')
  return new TransportRefusal(401, CODES.keyNotAccepted, `${error}: ${hint}`, { code, hint })
}

/** In each message of the new protocol; the older ones have it in `initialize` alone. */
const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo'
type MessageParams = { readonly _meta?: Readonly<Record<string, unknown>>; readonly clientInfo?: unknown } | null

async function receive(
  protocol: Protocol,
  request: FastifyRequest,
  reply: FastifyReply,
  { config: { baseUrl }, db }: Ground,
): Promise<FastifyReply> {
  const { body } = request
  if (body === undefined) throw new TransportRefusal(400, CODES.parse, 'Parse error: the body is empty.')
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new TransportRefusal(
      400,
      CODES.invalidRequest,
      'The body must be one JSON-RPC message; batches are not supported.',
    )
  const { method, id, params } = body as { method?: unknown; id?: unknown; params?: MessageParams }
  // The SDK would open an event stream that never sends anything, because no list here ever changes.
  if (method === 'subscriptions/listen')
    return send(reply, 404, CODES.unknownMethod, 'Method not found', undefined, typeof id === 'object' ? null : id)
  if (request.caller.kind !== 'key') throw new Error('a caller without a key was let in')
  const client = hostIn(params?._meta?.[CLIENT_INFO] ?? params?.clientInfo)
  if (method === 'initialize' && client !== null) await rememberHost(db, request.caller.record.key_id, client)
  const response = await protocol.answer(asWebRequest(request), body, {
    record: request.caller.record,
    host: request.headers.host,
    origin: dashboardOrigin(baseUrl, request.headers.host),
    ip: request.ip,
    client,
    db,
    header: (name, value) => void reply.header(name, value),
  })
  const type = response.headers.get('content-type')
  reply.code(response.status).header('cache-control', 'no-store')
  if (type !== null) reply.header('content-type', type)
  return reply.send(response.body === null ? undefined : await response.text())
}

/** The request for the SDK, which reads only its headers. Accept and Content-Type are set here, because callers need not send them. */
function asWebRequest({ headers }: FastifyRequest): Request {
  const sent = new Headers({ accept: 'application/json, text/event-stream', 'content-type': 'application/json' })
  for (const [name, value] of Object.entries(headers))
    if (name.startsWith('mcp-') && value !== undefined) sent.set(name, String(value))
  return new Request('http://sluice.invalid/', { method: 'POST', headers: sent })
}

function refuseMethod(reply: FastifyReply): FastifyReply {
  return send(
    reply.header('allow', 'POST'),
    405,
    CODES.transport,
    'Method not allowed: this endpoint accepts only POST.',
  )
}

function answerError(error: unknown, reply: FastifyReply, { log }: Ground, route: string): FastifyReply {
  if (error instanceof TransportRefusal) {
    if (error.status === 503) reply.header('retry-after', '60')
    if (error.challenge !== undefined) reply.header('www-authenticate', error.challenge)
    return send(reply, error.status, error.code, error.message, error.detail)
  }
  const refusal = refusalFor(error, 'other')
  const { error: words, hint } = refusalBody(refusal, 'other')
  if (refusal.status >= 500) {
    const request_id = reply.request.id
    log.error({ err: error, request_id, route, duration_ms: loggedDuration(reply.request) }, 'request failed')
    return send(reply, 500, CODES.internal, 'Internal error')
  }
  const code =
    refusal.refusal === 'invalid_json' ? CODES.parse : refusal.status === 400 ? CODES.invalidRequest : CODES.transport
  return send(reply, refusal.status, code, hint === undefined ? words : `${words}: ${hint}`)
}

function send(
  reply: FastifyReply,
  status: number,
  code: number,
  message: string,
  detail?: object,
  id: unknown = null,
): FastifyReply {
  const error = { code, message, ...(detail === undefined ? {} : { data: detail }) }
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ jsonrpc: '2.0', id, error }))
}
