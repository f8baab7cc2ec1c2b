/** Makes one outgoing call, which ends within its total deadline whatever the receiver does. */
import type { Readable } from 'node:stream'
import { type Dispatcher, errors, request } from 'undici'
import { PrivateTargetError } from '../../ground/guard.ts'
import type { DeliveryFailure } from './api.ts'
import type { Outgoing } from './lane.ts'

export const DEADLINES = { headers_ms: 10_000, total_ms: 15_000 }
export type Deadlines = typeof DEADLINES

const MOST_READ_BYTES = 64 * 1024
const MOST_KEPT_BYTES = 16 * 1024

/** The outcome of a call. `status` is null without an answer; `error` may also be set with a status. */
export type CallOutcome = {
  readonly status: number | null
  readonly error: string | null
  readonly answer: string | null
  readonly headers: Readonly<Record<string, string>>
  /** The kind of failure without an answer; `broken_off` if the closing worker aborted the call. */
  readonly fault: DeliveryFailure | 'broken_off' | null
}

/** 2xx is success, even if reading the body failed: the receiver has confirmed the conversion. */
export function isSuccess({ status }: Pick<CallOutcome, 'status'>): boolean {
  return status !== null && status >= 200 && status < 300
}

/** Makes one call. Never throws. Redirects are not followed. At most 64 KiB of the answer are read and 16 KiB kept. */
export async function sendCall(
  agent: Dispatcher,
  { method, url, headers = {}, body }: Outgoing,
  { deadlines = DEADLINES, signal }: { deadlines?: Deadlines; signal?: AbortSignal } = {},
): Promise<CallOutcome> {
  // With an idle timeout alone, a receiver that drips bytes could keep the call open for ever.
  const total = AbortSignal.timeout(deadlines.total_ms)
  try {
    const response = await request(url, {
      dispatcher: agent,
      method,
      headers: { 'user-agent': 'Sluice', accept: '*/*', ...headers },
      body: body ?? null,
      headersTimeout: deadlines.headers_ms,
      bodyTimeout: deadlines.total_ms,
      signal: signal === undefined ? total : AbortSignal.any([total, signal]),
    })
    const { text, error } = await readSome(response.body)
    return {
      status: response.statusCode,
      error: error === undefined ? null : reasonOf(error, deadlines),
      answer: text,
      headers: Object.fromEntries(
        Object.entries(response.headers).map(([name, value]) => [name, [value].flat()[0] ?? '']),
      ),
      fault: null,
    }
  } catch (error) {
    return {
      status: null,
      error: reasonOf(error, deadlines),
      answer: null,
      headers: {},
      fault: signal?.aborted ? 'broken_off' : faultOf(error),
    }
  }
}

function faultOf(error: unknown): DeliveryFailure {
  if (error instanceof PrivateTargetError) return 'blocked'
  const isLate = error instanceof errors.ConnectTimeoutError || error instanceof errors.HeadersTimeoutError
  return isLate || (error instanceof Error && error.name === 'TimeoutError') ? 'timeout' : 'connection'
}

async function readSome(body: Readable): Promise<{ text: string; error?: unknown }> {
  const chunks: Buffer[] = []
  let bytes = 0
  let error: unknown
  // Leaving the loop early destroys the stream, which emits an error.
  body.on('error', () => {})
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (bytes < MOST_KEPT_BYTES) chunks.push(chunk)
      bytes += chunk.length
      if (bytes > MOST_READ_BYTES) break
    }
  } catch (thrown) {
    error = thrown
  }
  const text = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, MOST_KEPT_BYTES))
  // PostgreSQL cannot store U+0000.
  return { text: text.replaceAll('\u0000', '\uFFFD'), error }
}

function reasonOf(error: unknown, { headers_ms, total_ms }: Deadlines): string {
  if (error instanceof errors.ConnectTimeoutError) return 'no connection in time'
  if (error instanceof errors.HeadersTimeoutError) return `no answer within ${headers_ms / 1000} s`
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `no complete answer within ${total_ms / 1000} s`
  if (error.name === 'AbortError') return 'aborted because the worker was closing'
  const inner = error instanceof AggregateError ? error.errors.find(one => one instanceof Error) : undefined
  return (inner?.message ?? error.message) || error.name
}
