/**
 * The gate, through which every request passes. Its steps run in this order, and only this file defines the order:
 *
 *   0 the host         400, 421                               gate/host.ts
 *   1 size by header   413                                    payload_too_large
 *   2 identify         401, 403                               gate/identify.ts
 *   3 read             413 by real bytes, 400                 gate/read.ts
 *   4 permit           403, 409                               gate/permit.ts
 *   5 quota            429, 503                               gate/quota.ts
 *   6 validate         400                                    the endpoint's schemas, with all that follows in gate/deed.ts
 *   7 once             409, 504                               gate/once.ts
 *   8 the deed         its own refusals, then the reply's schema, gate/rounding.ts, and for keys gate/receipt.ts
 */
import { METHODS as HTTP_METHODS } from 'node:http'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type HTTPMethods } from 'fastify'
import { type Endpoint, FILE_LIMIT, type FileType, isReading, routeOf } from '../contract/endpoint.ts'
import { historyKindOf } from '../contract/history.ts'
import { refuse } from '../contract/refusals.ts'
import { askingFor } from '../ground/db/slow-queries.ts'
import type { Answer, Furnished, Ground, Host, Visit } from '../ground/room.ts'
import { logAccess, requestIds } from './access-log.ts'
import { answerBrokenRequest, answerRefusal } from './answer.ts'
import { type DeedParts, deedRunner, type SetHeader } from './deed.ts'
import { type Domains, replacingUnknown } from './domain.ts'
import { allowOrigins, answerPreflight } from './cors.ts'
import { type Caller, type Identities, identify, isKeyOnly } from './identify.ts'
import { NosniffResponse } from './nosniff.ts'
import { type Actor, permit, type Memberships } from './permit.ts'
import type { Quotas } from './quota.ts'
import { BODY_LIMIT, prepareBody, readJson } from './read.ts'
import { type RefusedIntake, refusedIntake } from './refused-intake.ts'
import { countEarly, countPlainVisits, isPlainVisit, measureRequests } from './request-metrics.ts'
import { corrected } from './spelling.ts'
import { type ToolCall, toolCall } from './tool-call.ts'
import { openVisits, sendAnswer, type HostAdmission } from './visit.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
    actor: Actor
    arrived_at: number
    /** The host the request came to. */
    visited: Host
    /** The MCP tool that made this request, if one did. */
    tool: ToolCall | undefined
    /** The body of a conversion that could not be parsed. */
    unread: Buffer | undefined
  }
  interface FastifyContextConfig {
    /** The endpoint of a route, or 'page' for the dashboard's files. A route without one keeps the server from starting. */
    endpoint?: Endpoint | 'page'
  }
}

type GateParts = DeedParts & {
  identities: Identities
  memberships: Memberships
  quotas: Quotas
  /** The custom domains. When omitted, there are none. */
  domains?: Domains
  /** Called for each refused conversion whose organization is known. Must neither wait nor throw. */
  onRefusedIntake?: (refused: RefusedIntake) => void
}

/** Every method except CONNECT, which never reaches a route. */
const METHODS = HTTP_METHODS.filter(method => method !== 'CONNECT')

/** Builds the server with a route for each furnished endpoint. It does not listen yet. */
export function openGate(parts: GateParts, furnished: readonly Furnished[]): FastifyInstance {
  const { config, log } = parts.ground
  const app = Fastify({
    logger: false,
    genReqId: requestIds(),
    bodyLimit: BODY_LIMIT,
    requestTimeout: 30_000,
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 2_000, ServerResponse: NosniffResponse },
    exposeHeadRoutes: false,
    rewriteUrl: ({ url = '/' }) => corrected(url),
    trustProxy: config.trustProxy.length > 0 ? [...config.trustProxy] : false,
    routerOptions: { maxParamLength: 2048 },
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => void answerRefusal(error, request, reply, log),
  })
  app.decorateRequest('caller')
  app.decorateRequest('actor')
  app.decorateRequest('arrived_at', 0)
  app.decorateRequest('visited')
  app.decorateRequest('tool')
  app.decorateRequest('unread')
  readBodies(app)
  const visits = openVisits(config, parts.domains)
  app.addHook('onRequest', (request, reply, done) => {
    request.arrived_at = performance.now()
    try {
      const { host, answer } = visits.admit(request)
      request.visited = host
      if (answer === undefined) return done()
      Promise.resolve(answer)
        .then(answered => {
          countEarly(request, answered.status)
          void sendAnswer(reply, answered)
        })
        .catch(done)
    } catch (error) {
      done(error as Error)
    }
  })
  app.setErrorHandler((error, request, reply) => {
    const isKept = parts.onRefusedIntake !== undefined && request.tool?.is_dry_run !== true
    const refused = isKept ? refusedIntake(error, request) : undefined
    if (refused !== undefined) parts.onRefusedIntake?.(refused)
    const answered = answerRefusal(error, request, reply, log)
    countEarly(request, reply.statusCode)
    return answered
  })
  app.addHook('onRoute', ({ config: declared, url }) => {
    if (declared?.endpoint === undefined) throw new Error(`${url} has no endpoint: declare it in an api.ts`)
  })
  measureRequests(app)
  if (config.accessLog) logAccess(app, log)
  for (const one of furnished) {
    requireHistory(one, parts.recorder !== undefined)
    if (one.endpoint.visit) receiveVisits(app, parts, visits, one)
    else receiveCalls(app, parts, one)
  }
  refuseOtherMethods(app, furnished)
  return app
}

function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    const { endpoint } = request.routeOptions.config
    const declared = typeof endpoint === 'object' ? endpoint : undefined
    const isAwaited = declared?.body !== undefined
    if (declared?.takesRaw || declared?.takesFile) return done(null, bytes)
    try {
      done(null, bytes.length === 0 && !isAwaited ? undefined : readJson(bytes as Buffer))
    } catch (error) {
      if (declared?.quota === 'events') request.unread = bytes as Buffer
      done(error as Error)
    }
  })
}

/** Keeps the server from starting with a write that would be missing in the history. */
function requireHistory({ name, endpoint }: Furnished, canRecord: boolean): void {
  if (isReading(endpoint)) return
  const { history, route } = endpoint
  if (history === undefined) throw new Error(`${route} does not declare what the history records of it`)
  if (historyKindOf(history) !== undefined && !canRecord) throw new Error(`nothing records the writes of ${name}`)
}

function receiveCalls(app: FastifyInstance, parts: GateParts, one: Furnished): void {
  const { endpoint } = one
  const { method, path } = routeOf(endpoint)
  const { ground, identities, memberships, quotas } = parts
  const act = deedRunner(parts, one)
  const limit = endpoint.takesFile === undefined ? BODY_LIMIT : FILE_LIMIT
  app.route({
    method,
    url: path,
    bodyLimit: limit,
    config: { endpoint },
    onRequest: async request => {
      request.tool = toolCall.getStore()
      prepareBody(request, limit)
      request.caller = await identify(endpoint, request, identities, ground.config.baseUrl, request.tool)
    },
    preHandler: async (request, reply) => {
      request.actor = await permit(endpoint, request.caller, memberships, request.tool === undefined ? 'http' : 'tool')
      const quota = endpoint.quota ?? (request.caller.kind === 'key' ? 'writes' : undefined)
      const org_id =
        quota !== undefined && request.actor !== undefined && 'org_id' in request.actor
          ? request.actor.org_id
          : undefined
      if (quota !== undefined && org_id !== undefined) await quotas.spend(quota, org_id, reply)
    },
    handler: async (request, reply) => {
      const header: SetHeader = (name, value) => void reply.header(name, value)
      const result = await askingFor({ route: endpoint.route, request_id: request.id }, () => act(request, header))
      const { file, status = 200 } = endpoint
      const type = file === undefined ? 'application/json; charset=utf-8' : FILE_TYPES[file]
      reply.code(status).header('cache-control', 'no-store').header('content-type', type)
      return file === undefined ? JSON.stringify(result) : result
    },
  })
}

const FILE_TYPES: Readonly<Record<FileType, string>> = {
  'text/csv': 'text/csv; charset=utf-8',
  'text/plain': 'text/plain; charset=utf-8',
  'application/vnd.apache.parquet': 'application/vnd.apache.parquet',
  'application/octet-stream': 'application/octet-stream',
}

function receiveVisits(
  app: FastifyInstance,
  { ground, identities }: GateParts,
  { domains, visitOf }: HostAdmission,
  { endpoint, deed }: Furnished,
): void {
  const { method, path } = routeOf(endpoint)
  const receive = deed as (ground: Ground, visit: Visit) => Answer | Promise<Answer>
  const count = isPlainVisit(endpoint) ? countPlainVisits(endpoint) : undefined
  // A visitor's GET outside /api has no body, key or origin to check, so redirects go straight to their deed. No step makes a promise without need.
  const steps = [
    ...(endpoint.cors !== undefined || method !== 'GET' ? [preparation(endpoint)] : []),
    ...(path.startsWith('/api/')
      ? [async (request: FastifyRequest) => void (await identify(endpoint, request, identities, ground.config.baseUrl))]
      : []),
  ]
  if (endpoint.cors) answerPreflight(app, endpoint, count)
  app.route({
    method: method === 'GET' ? ['GET', 'HEAD'] : method,
    url: path,
    config: { endpoint },
    ...(steps.length > 0 ? { onRequest: steps } : {}),
    handler: async (request, reply) => {
      const visit = visitOf(request)
      const own = await receive(ground, visit)
      const { host } = visit
      const answer = host.is === 'domain' ? await replacingUnknown(domains, host, visit, own) : own
      count?.(answer.status, performance.now() - request.arrived_at)
      return sendAnswer(reply, answer)
    },
  })
}

/** Before the body is read. The headers for pages also belong to refusals. */
function preparation(endpoint: Endpoint) {
  const { method } = routeOf(endpoint)
  return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    allowOrigins(endpoint, request, reply)
    if (method !== 'GET') prepareBody(request)
    done()
  }
}

/** The read routes answer 405 to every method but GET, before any other check. Elsewhere an unknown method is an unknown route. */
function refuseOtherMethods(app: FastifyInstance, furnished: readonly Furnished[]): void {
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  for (const { endpoint } of furnished) {
    const { method, path } = routeOf(endpoint)
    if (!isKeyOnly(endpoint.access)) continue
    app.route({
      method: METHODS.filter(other => other !== method) as HTTPMethods[],
      url: path,
      config: { endpoint },
      onRequest: async () => refuse('method_not_allowed', { headers: { allow: method } }),
      handler: async () => refuse('method_not_allowed'),
    })
  }
}
