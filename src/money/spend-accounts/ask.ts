/** Requests platforms' reports. The addresses come from the operator's settings, so the guarded client is not needed. Redirects are not followed. */
import { getGlobalDispatcher, request } from 'undici'
import { MINUTE_MS } from '../../contract/days.ts'
import { fieldsOf } from '../../contract/json.ts'
import { type RequestPlatform, SpendFault } from './reader.ts'

/** Platforms compute a report during the request. */
const TIMEOUT_MS = MINUTE_MS
/** Ten times the size of a page of a report. */
const MOST_BYTES = 8 * 1024 * 1024

/** Returns a function that requests until `closing` is aborted. Errors contain no address and no header, because those may hold the token. */
export const openPlatformRequests =
  (closing: AbortSignal): RequestPlatform =>
  async (url, query, headers) => {
    const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), closing])
    try {
      const response = await request(`${url}?${new URLSearchParams(query).toString()}`, {
        dispatcher: getGlobalDispatcher(),
        headers: { 'user-agent': 'Sluice', accept: 'application/json', ...headers },
        headersTimeout: TIMEOUT_MS,
        bodyTimeout: TIMEOUT_MS,
        signal,
      })
      const text = await readText(response.body)
      return { status: response.statusCode, body: fieldsOf(parseJson(text)), headers: response.headers }
    } catch (error) {
      if (closing.aborted || error instanceof SpendFault) throw error
      throw new SpendFault('unavailable', describeError(error))
    }
  }

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > MOST_BYTES) throw new SpendFault('unexpected_answer', 'its answer is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function describeError(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return `no complete answer within ${TIMEOUT_MS / 1000} s`
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'no answer'
  return `no connection (${code})`
}
