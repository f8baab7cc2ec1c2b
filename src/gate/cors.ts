/**
 * Answers that pages of every origin may read. No origin is named and cookies are never allowed, so such a page acts only with what it sends itself: a token, or
 * nothing. An endpoint that is not open on domains of organizations allows this under the dashboard's own name only.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Endpoint, routeOf } from '../contract/endpoint.ts'
import { refuse } from '../contract/refusals.ts'
import type { VisitCount } from './request-metrics.ts'

const ANY_ORIGIN = { 'access-control-allow-origin': '*' }
const DAY_SECONDS = '86400'

const isOpenTo = ({ cors, hosts }: Endpoint, { visited }: FastifyRequest): boolean =>
  cors !== undefined && (hosts === 'any' || visited.is === 'main')

/** Lets pages of every origin read the answer, also a refusal, if the endpoint is declared so. */
export function allowOrigins(endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply): void {
  if (!isOpenTo(endpoint, request)) return
  const { exposes = [] } = endpoint.cors ?? {}
  reply.headers(ANY_ORIGIN)
  if (exposes.length > 0) reply.header('access-control-expose-headers', exposes.join(', '))
}

/** Answers the question of browsers whether a page may send such a request. `count` counts the answers if no hook does. */
export function answerPreflight(app: FastifyInstance, endpoint: Endpoint, count?: VisitCount): void {
  const { method, path: url } = routeOf(endpoint)
  const { sends = [] } = endpoint.cors ?? {}
  const headers = {
    ...ANY_ORIGIN,
    'access-control-allow-methods': method,
    'access-control-allow-headers': sends.join(', '),
    'access-control-max-age': DAY_SECONDS,
  }
  app.route({
    method: 'OPTIONS',
    url,
    config: { endpoint },
    handler: async (request, reply) => {
      if (!isOpenTo(endpoint, request)) return refuse('route_not_found')
      count?.(204, performance.now() - request.arrived_at)
      return reply.code(204).headers(headers).send()
    },
  })
}
