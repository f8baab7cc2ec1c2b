/** The script for landing pages and for pages that count their own visits. */
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Secrets } from '../../ground/db/secrets.ts'
import type { Answer, Ground, Visit } from '../../ground/room.ts'
import { nameOfHost } from '../../traffic/domains/name.ts'

/** Without whole-line comments and indentation, which visitors need not load. */
const slim = (source: string): string => source.replace(/^\s*(\/\/.*|\/\*\*?.*\*\/)$/gm, '').replace(/^\s+/gm, '')

/** Read once, at the start. */
const BODY = slim(readFileSync(join(import.meta.dirname, 'sluice.js'), 'utf8'))
const TAG = hash('sha256', BODY, 'base64url').slice(0, 22)

/** Browsers keep it for an hour, so a new version reaches every page within an hour. Then they ask whether it is still the same. */
const HEADERS = {
  'cache-control': 'public, max-age=3600',
  'cross-origin-resource-policy': 'cross-origin',
  // For pages that check its hash.
  'access-control-allow-origin': '*',
  etag: `"${TAG}"`,
}
const SCRIPT: Answer = {
  status: 200,
  headers: { ...HEADERS, 'content-type': 'text/javascript; charset=utf-8' },
  body: BODY,
}
const UNCHANGED: Answer = { status: 304, headers: HEADERS }

/** The script; 304 to a browser that has it. A proxy that compresses marks the tag as weak (`W/"…"`). */
export function serveScript({ headers }: Pick<Visit, 'headers'>): Answer {
  const sent = headers['if-none-match']
  return sent !== undefined && String(sent).includes(`"${TAG}"`) ? UNCHANGED : SCRIPT
}

const LETTERS = 8

/**
 * The neutral name of the script on a host (a Host header): letters that this installation uses for this host alone. Content blockers go by names and
 * paths, so a name that every installation shares would end up on their lists.
 */
export function neutralName({ mac }: Pick<Secrets, 'mac'>, host: string): string {
  const bytes = mac('script name', nameOfHost(host)).subarray(0, LETTERS)
  return Array.from(bytes, byte => String.fromCharCode(97 + (byte % 26))).join('')
}

const UNKNOWN: Answer = {
  status: 404,
  headers: { 'cache-control': 'no-store', 'content-type': 'text/plain; charset=utf-8' },
  body: 'not found\n',
  is_unknown: true,
}

/** The script under the neutral name of the host that was asked. */
export function serveNeutralScript({ secrets }: Pick<Ground, 'secrets'>, visit: Visit): Answer {
  const { headers, params } = visit
  return params['name'] === neutralName(secrets, String(headers['host'] ?? '')) ? serveScript(visit) : UNKNOWN
}
