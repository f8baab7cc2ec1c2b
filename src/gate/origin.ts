/**
 * The Origin rule: a request that changes something without a key is a cookie request and must come from the dashboard's own pages.
 * Compared exactly; a Referer never stands in for it.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { refuse } from '../contract/refusals.ts'

const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i

/** Whether a host, with its port or without, is this machine itself. */
export const isLoopback = (host: string): boolean => LOOPBACK_HOST.test(host)

/** The address the dashboard is at for this request: BASE_URL, else the loopback address the browser used, else unknown. */
export function dashboardOrigin(baseUrl: string | undefined, host: string | undefined): string | undefined {
  if (baseUrl !== undefined) return baseUrl
  return host !== undefined && isLoopback(host) ? `http://${host.toLowerCase()}` : undefined
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
