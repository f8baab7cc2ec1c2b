/**
 * The Origin rule: a request that changes something without a key is a cookie request and must come from the dashboard's own pages. Origin is
 * compared exactly, and a Referer never replaces it.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { refuse } from '../contract/refusals.ts'
import { dashboardOrigin } from '../ground/network.ts'

/** Refuses 403 unless the Origin header is the dashboard's. */
export function requireOrigin(headers: IncomingHttpHeaders, baseUrl: string | undefined): void {
  const { origin, host } = headers
  if (origin === undefined || origin === '' || origin === 'null') refuse('origin_required')
  if (!isOwnOrigin(origin, host, baseUrl)) refuse('origin_mismatch')
}

/** Whether an origin is the dashboard's. */
export function isOwnOrigin(origin: string, host: string | undefined, baseUrl: string | undefined): boolean {
  // The loopback address works even when BASE_URL is set, for people at the machine itself.
  return [baseUrl, dashboardOrigin(undefined, host)].includes(origin.toLowerCase())
}
