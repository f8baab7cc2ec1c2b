/**
 * The access log (`ACCESS_LOG=true`): one line of the log for each answer. It has no address, path, query or header, because those identify visitors
 * and hold secrets: a postback URL is itself one.
 */
import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'

/** Ids of requests, unique among the processes of an installation and their restarts. They connect the lines of one request. */
export function requestIds(): () => string {
  const process = randomBytes(4).toString('hex')
  let number = 0
  return () => `${process}-${(number += 1)}`
}

/** The route of a request in the log; undefined if none matched. */
export function loggedRoute({ is404, routeOptions }: FastifyRequest): string | undefined {
  const { endpoint } = routeOptions.config
  if (is404 || endpoint === undefined) return undefined
  return endpoint === 'page' ? 'page' : endpoint.route
}

/** The time since the request arrived, in whole milliseconds. */
export const loggedDuration = ({ arrived_at }: Pick<FastifyRequest, 'arrived_at'>): number =>
  Math.round(performance.now() - arrived_at)

/** Logs every answer of the server at the level `info`. Call it before its routes are added. */
export function logAccess(app: FastifyInstance, log: Logger): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { id: request_id, method } = request
    const { statusCode: status } = reply
    const bytes = Number(reply.getHeader('content-length') ?? Number.NaN)
    log.info(
      {
        request_id,
        method,
        route: loggedRoute(request),
        status,
        duration_ms: loggedDuration(request),
        ...(Number.isNaN(bytes) ? {} : { bytes }),
      },
      'request',
    )
    done()
  })
}
