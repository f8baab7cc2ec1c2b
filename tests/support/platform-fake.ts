// Shared by the fakes of ad platforms: a receiver on loopback that judges requests and can be given other answers.
import type { ServerResponse } from 'node:http'
import { type Arrival, startReceiver } from './receiver.ts'

export type Reply = { status: number; body: unknown; headers?: Record<string, string> }
/** Answers a call; `undefined` means the fake's own judgement. */
type Prepared = (call: Arrival) => Reply | undefined | Promise<Reply | undefined>

export type Fake<Taken> = {
  readonly origin: string
  /** Everything that arrived, refused or not. */
  readonly calls: Arrival[]
  /** The events it has accepted, test events included. */
  readonly taken: Taken[]
  /** The answers to calls that it judged wrong by itself. */
  readonly refusals: Reply[]
  /** Sets the answer from now on; `undefined` restores its own judgement. */
  answer(prepared: Prepared | undefined): void
  close(): Promise<void>
}

/** Starts a fake. `judge` checks a call by the platform's documentation, adds accepted events to `taken`, and answers. */
export async function startFake<Taken>(judge: (call: Arrival, taken: Taken[]) => Reply): Promise<Fake<Taken>> {
  const taken: Taken[] = []
  const refusals: Reply[] = []
  let prepared: Prepared | undefined
  const receiver = await startReceiver(async (call, response) => {
    const own = await prepared?.(call)
    const reply = own ?? judge(call, taken)
    if (own === undefined && (reply.status >= 400 || isRefusal(reply.body))) refusals.push(reply)
    send(response, reply)
  })
  return {
    origin: receiver.origin,
    calls: receiver.arrivals,
    taken,
    refusals,
    answer: given => {
      prepared = given
    },
    close: () => receiver.close(),
  }
}

/** TikTok refuses with HTTP 200 and a code. */
const isRefusal = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && 'code' in body && body.code !== 0

function send(response: ServerResponse, { status, body, headers = {} }: Reply): void {
  const isText = typeof body === 'string'
  response.writeHead(status, { 'content-type': isText ? 'text/html' : 'application/json', ...headers })
  response.end(isText ? body : JSON.stringify(body))
}

/** The body as JSON, or undefined. */
export function jsonBody({ body }: Arrival): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

export const SHA256 = /^[0-9a-f]{64}$/
export const DAY_S = 86_400

/** The fields of an object that are not among the allowed ones. */
export function strangers(value: unknown, allowed: readonly string[]): string[] {
  return typeof value === 'object' && value !== null ? Object.keys(value).filter(key => !allowed.includes(key)) : []
}

/** The value if it is a string, else an empty one. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
