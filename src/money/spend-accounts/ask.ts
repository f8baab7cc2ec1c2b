/** Asks a platform's reports. Only addresses the operator has set are asked, so nothing guards the way there; redirects are not followed. */
import { getGlobalDispatcher, request } from 'undici'
import { fieldsOf } from '../../contract/json.ts'
import { type Ask, SpendFault } from './reader.ts'

/** Reports are made while one waits. */
const TIMEOUT_MS = 60_000
/** A page of a report is a tenth of it. */
const MOST_BYTES = 8 * 1024 * 1024

/** Asks until `signal` is aborted. What is thrown names no address and no header: they hold the token. */
export const asker =
  (closing: AbortSignal): Ask =>
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
      const text = await textOf(response.body)
      return { status: response.statusCode, body: fieldsOf(parsed(text)), headers: response.headers }
    } catch (error) {
      if (closing.aborted || error instanceof SpendFault) throw error
      throw new SpendFault('unavailable', wordsOf(error))
    }
  }

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > MOST_BYTES) throw new SpendFault('unexpected_answer', 'its answer is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function wordsOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return `no complete answer within ${TIMEOUT_MS / 1000} s`
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'no answer'
  return `no connection (${code})`
}
