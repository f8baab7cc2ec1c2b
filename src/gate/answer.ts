/** Turns every refusal and failure into an answer: refusals by the catalogue, failures as an internal error that does not reveal its cause. */
import type { Duplex } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { z } from 'zod'
import { type Endpoint, isReading } from '../contract/endpoint.ts'
import type { RefusalName } from '../contract/refusal-catalogue.ts'
import { Refusal, type RefusalDetail, refusalBody, retryInAMinute } from '../contract/refusals.ts'
import { isOutOfTime, isUnreachable } from '../ground/db/faults.ts'
import { loggedDuration, loggedRoute } from './access-log.ts'
import { type Surface, surfaceOf } from './identify.ts'

const BY_FASTIFY_CODE: Record<string, [RefusalName, RefusalDetail?]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'invalid_request',
    { error: 'the body is not as long as Content-Length says', hint: 'Send the length in bytes.' },
  ],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['invalid_json'],
  FST_ERR_BAD_URL: [
    'invalid_request',
    { error: 'the path is not valid', hint: 'Percent-encode it as UTF-8. A % itself is %25.' },
  ],
}

/** Says "where you can", because not every slow read has days or filters to choose. */
const ASK_FOR_LESS = 'Choose fewer days or add filters where you can, or try again in a minute.'

/** Whether a call by a session was going to read or to change. */
type Purpose = 'read' | 'change'

/** Hints for sessions. The usual hint is for conversion intake, where a nonce makes repeating safe; dashboard calls have none. */
const UNAVAILABLE_HINTS: Record<Purpose, string> = {
  read: 'Nothing was changed. Try again in a moment.',
  change: 'Check whether it was saved before you send it again.',
}

/**
 * The refusal for an error. `surface` and `purpose` decide the refusal for a database that is down or too busy. A read that timed out is
 * `read_timed_out`, because the same read would time out again at once.
 */
export function refusalFor(error: unknown, surface: Surface, purpose?: Purpose): Refusal {
  if (error instanceof Refusal)
    return error.refusal === 'service_unavailable' ? unavailable(error.detail, purpose) : error
  if (error instanceof z.ZodError) return new Refusal('invalid_request', { error: issueWords(error.issues) })
  const known = BY_FASTIFY_CODE[(error as { code?: string }).code ?? '']
  if (known !== undefined) return new Refusal(...known)
  if (isOutOfTime(error) && surface === 'reads') return new Refusal('read_timed_out')
  if (isOutOfTime(error) && purpose === 'read') return new Refusal('read_timed_out', { hint: ASK_FOR_LESS })
  if ((isUnreachable(error) || isOutOfTime(error)) && surface !== 'reads')
    return unavailable(retryInAMinute().detail, purpose)
  const status = (error as { statusCode?: number }).statusCode ?? 500
  return new Refusal(status >= 400 && status < 500 ? 'invalid_request' : 'internal_error')
}

function unavailable(detail: RefusalDetail, purpose: Purpose | undefined): Refusal {
  return new Refusal(
    'service_unavailable',
    purpose === undefined ? detail : { hint: UNAVAILABLE_HINTS[purpose], ...detail },
  )
}

/** The purpose of a call by a session. Undefined for intake, reads by key, visitors and sign-in. */
function purposeOf(endpoint: Endpoint): Purpose | undefined {
  const { access, quota } = endpoint
  if (access === 'anyone' || access.session === undefined || quota === 'events') return undefined
  return isReading(endpoint) ? 'read' : 'change'
}

/** One sentence for an invalid body or query: each field with its error. */
export function issueWords(issues: readonly z.core.$ZodIssue[]): string {
  const words = issues.map(({ path, code, message }) => {
    if (path.length === 0) return code === 'invalid_type' ? `the body ${message}` : message
    return `${path.join('.')}: ${message}`
  })
  return [...new Set(words)].slice(0, 5).join('; ')
}

/** Answers a refusal or failure. Failures are also logged. */
export function answerRefusal(error: unknown, request: FastifyRequest, reply: FastifyReply, log: Logger): FastifyReply {
  const endpoint = request.routeOptions.config.endpoint
  const declared = endpoint === 'page' ? undefined : endpoint
  const surface = declared === undefined ? 'other' : surfaceOf(declared)
  const refusal = refusalFor(error, surface, declared && purposeOf(declared))
  // The socket is checked, because Node marks a request as destroyed as soon as its body was read.
  const isGone = request.socket.destroyed || (error as { code?: string }).code === 'ECONNRESET'
  if (refusal.status >= 500 && !(error instanceof Refusal) && !isGone)
    log.error(
      { err: error, request_id: request.id, route: loggedRoute(request), duration_ms: loggedDuration(request) },
      'request failed',
    )
  return reply
    .code(refusal.status)
    .headers(refusal.detail.headers ?? {})
    .header('cache-control', 'no-store')
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(refusalBody(refusal, surface)))
}

const BROKEN: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** Answers a malformed or too slow HTTP request in the form of every refusal. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const status = BROKEN[error.code ?? ''] ?? '400 Bad Request'
  const body = JSON.stringify({ error: status.slice(4).toLowerCase() })
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${body.length}\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n${body}`,
  )
}
