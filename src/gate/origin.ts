/**
 * The Origin rule: a request that changes something without a key is a cookie request and must come from the dashboard's own pages.
 * Compared exactly; a Referer never stands in for it.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { refuse } from '../contract/refusals.ts'
import { isLoopbackHost } from '../ground/network.ts'

/** The address the dashboard is at for this request: BASE_URL, else the loopback address the browser used, else unknown. */
export function dashboardOrigin(baseUrl: string | undefined, host: string | undefined): string | undefined {
  if (baseUrl !== undefined) return baseUrl
  return host !== undefined && isLoopbackHost(host) ? `http://${host.toLowerCase()}` : undefined
}

/** Refuses 403 unless Origin is the dashboard's. */
export function requireOrigin(headers: IncomingHttpHeaders, baseUrl: string | undefined): void {
  const { origin, host } = headers
  if (origin === undefined || origin === '' || origin === 'null') refuse('origin_required')
  if (!isOwnOrigin(origin, host, baseUrl)) refuse('origin_mismatch')
}

/** Whether the Origin is the dashboard's own. */
export function isOwnOrigin(origin: string, host: string | undefined, baseUrl: string | undefined): boolean {
  // Behind BASE_URL the loopback address stays good for whoever sits at the machine itself.
  return [baseUrl, dashboardOrigin(undefined, host)].includes(origin.toLowerCase())
}
