/** One call to the outside with its deadlines: it ends within the total whatever the other side does. */
import type { Readable } from 'node:stream'
import { type Dispatcher, errors, request } from 'undici'
import { PrivateTargetError } from '../../ground/guard.ts'
import type { DeliveryFailure } from './api.ts'
import type { Outgoing } from './lane.ts'

export const DEADLINES = { headers_ms: 10_000, total_ms: 15_000 }
export type Deadlines = typeof DEADLINES

const READ_BYTES = 64 * 1024
const KEPT_BYTES = 16 * 1024

/** How a call went. `status` is null when no answer came; `error` says what went wrong, also behind a status. */
export type Outcome = {
  readonly status: number | null
  readonly error: string | null
  readonly answer: string | null
  readonly headers: Readonly<Record<string, string>>
  /** What kind of failure no answer is; a closing worker's own breaking off is none of the other side's. */
  readonly fault: DeliveryFailure | 'broken_off' | null
}

/** 2xx is success, whatever became of the body: the other side has said that it has the conversion. */
export function isSuccess({ status }: Pick<Outcome, 'status'>): boolean {
  return status !== null && status >= 200 && status < 300
}

/** Calls once; never throws. Redirects are not followed. At most 64 KiB of the answer are read and 16 KiB kept. */
export async function send(
  agent: Dispatcher,
  { method, url, headers = {}, body }: Outgoing,
  { deadlines = DEADLINES, signal }: { deadlines?: Deadlines; signal?: AbortSignal } = {},
): Promise<Outcome> {
  // An idle timer alone would let a receiver that drips bytes hold the place for ever.
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
  // Leaving the loop early destroys the stream, which then says so to whoever listens.
  body.on('error', () => {})
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (bytes < KEPT_BYTES) chunks.push(chunk)
      bytes += chunk.length
      if (bytes > READ_BYTES) break
    }
  } catch (thrown) {
    error = thrown
  }
  const text = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, KEPT_BYTES))
  // PostgreSQL holds no U+0000.
  return { text: text.replaceAll('\u0000', '\uFFFD'), error }
}

function reasonOf(error: unknown, { headers_ms, total_ms }: Deadlines): string {
  if (error instanceof errors.ConnectTimeoutError) return 'no connection in time'
  if (error instanceof errors.HeadersTimeoutError) return `no answer within ${headers_ms / 1000} s`
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `no complete answer within ${total_ms / 1000} s`
  if (error.name === 'AbortError') return 'broken off because the worker was closing'
  const inner = error instanceof AggregateError ? error.errors.find(one => one instanceof Error) : undefined
  return (inner?.message ?? error.message) || error.name
}
