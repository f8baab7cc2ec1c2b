/**
 * The metrics of requests: how many, by route and status, and how long their answers took, by route. A request only adds to numbers in arrays that were
 * made with its route. Visits are counted where they are answered, because Fastify's hook for answers adds two listeners to each response.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Counter, type Metric, type MetricValueWithName, register } from 'prom-client'
import type { Endpoint } from '../contract/endpoint.ts'

/** The upper bounds of the histogram in seconds: a redirect from memory, one with a commit, a call, a report, and calls that are too slow. */
const BOUNDS_S = [0.005, 0.025, 0.1, 0.5, 2.5, 10] as const
const BOUNDS_MS = BOUNDS_S.map(seconds => seconds * 1000)
const STATUSES_FROM = 100
const STATUSES = 500

/** `counts`: by status from 100 on. `buckets`: by bound, not cumulative; the last one has no bound. */
type RouteCounts = { readonly counts: Float64Array; readonly buckets: Float64Array; total_ms: number }

/** The routes of all servers in this process; a Fastify route never leaves it. */
const routes = new Map<string, RouteCounts>()

const NOT_FOUND = 'none'
const PAGES = 'page'

function countsOf(route: string): RouteCounts {
  const known = routes.get(route)
  if (known !== undefined) return known
  const made = { counts: new Float64Array(STATUSES), buckets: new Float64Array(BOUNDS_S.length + 1), total_ms: 0 }
  routes.set(route, made)
  return made
}

/** Whether the endpoint is for visitors and outside /api: nobody is identified before its deed. */
export const isPlainVisit = ({ visit, route }: Pick<Endpoint, 'visit' | 'route'>): boolean =>
  visit === true && !route.includes(' /api/')

/** Counts an answer to a visit, with its status and the milliseconds that it took. */
export type VisitCount = (status: number, took_ms: number) => void

/** Returns what counts the answers of such an endpoint. */
export function countPlainVisits({ route }: Pick<Endpoint, 'route'>): VisitCount {
  const counts = countsOf(route)
  return (status, took_ms) => add(counts, status, took_ms)
}

/** Counts an answer that is given before its route: on a custom domain, or a refusal. The routes that have the hook count theirs by it. */
export function countEarly({ is404, routeOptions, arrived_at }: FastifyRequest, status: number): void {
  const { endpoint } = routeOptions.config
  const took_ms = performance.now() - arrived_at
  if (is404) add(countsOf(NOT_FOUND), status, took_ms)
  else if (typeof endpoint === 'object' && isPlainVisit(endpoint)) add(countsOf(endpoint.route), status, took_ms)
}

/** Counts every request of the routes that are no plain visits. Call it before the routes are added. */
export function measureRequests(app: FastifyInstance): void {
  app.addHook('onRoute', route => {
    const endpoint = route.config?.endpoint
    if (typeof endpoint === 'object' && isPlainVisit(endpoint)) return
    const counts = countsOf(typeof endpoint === 'object' ? endpoint.route : PAGES)
    const count = (_: FastifyRequest, reply: FastifyReply, done: () => void) => {
      add(counts, reply.statusCode, reply.elapsedTime)
      done()
    }
    route.onResponse = route.onResponse === undefined ? count : [count, ...[route.onResponse].flat()]
  })
}

function add(route: RouteCounts, status: number, took_ms: number): void {
  const { counts, buckets } = route
  const at = status - STATUSES_FROM
  counts[at] = (counts[at] ?? 0) + 1
  let bucket = 0
  while (bucket < BOUNDS_MS.length && took_ms > (BOUNDS_MS[bucket] ?? 0)) bucket += 1
  buckets[bucket] = (buckets[bucket] ?? 0) + 1
  route.total_ms += took_ms
}

new Counter({
  name: 'sluice_http_requests_total',
  help: `Answered requests, by route and status; route ${PAGES}: the dashboard's files and unknown addresses, ${NOT_FOUND}: no route`,
  labelNames: ['route', 'status'],
  collect() {
    this.reset()
    for (const [route, { counts }] of routes)
      for (const [at, count] of counts.entries())
        if (count > 0) this.inc({ route, status: String(STATUSES_FROM + at) }, count)
  },
})

const DURATION = 'sluice_http_request_duration_seconds'

/** A histogram of prom-client would make objects for each request. */
class Durations {
  readonly name = DURATION
  get() {
    const help = 'Time from the arrival of a request until its answer was handed to the system, by route'
    const values = [...routes].flatMap(([route, counts]) => durationValues(route, counts))
    return Promise.resolve({ name: DURATION, help, type: 'histogram', values })
  }
}

function durationValues(route: string, { buckets, total_ms }: RouteCounts): MetricValueWithName<string>[] {
  let count = 0
  const cumulative = [...buckets].map((value, at) => {
    count += value
    const le = String(BOUNDS_S[at] ?? '+Inf')
    return { metricName: `${DURATION}_bucket`, labels: { route, le }, value: count }
  })
  if (count === 0) return []
  const labels = { route }
  return [
    ...cumulative,
    { metricName: `${DURATION}_sum`, labels, value: total_ms / 1000 },
    { metricName: `${DURATION}_count`, labels, value: count },
  ]
}

register.registerMetric(new Durations() as unknown as Metric)
