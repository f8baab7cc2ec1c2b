/**
 * Forwards updates to the bot's own program: the same bytes, with the program's secret. Sluice stores no update: if the program does not accept one,
 * Telegram sends it again for up to a day. A program that fails ten times within a minute gets no calls for 15 seconds.
 */
import { type Dispatcher, request } from 'undici'
import type { Ground } from '../../ground/room.ts'
import { guardedAgent, plainAgent, PrivateTargetError } from '../../ground/guard.ts'
import type { LiveBot } from './live.ts'
import { type Breaker, openBreaker } from './breaker.ts'
import { type ProgramReply, openMarks } from './marks.ts'
import { openRelayLog } from './relay-log.ts'
import { isListedHost } from './relay-url.ts'

const DEADLINE_MS = 30_000
const MOST_ANSWER_BYTES = 64 * 1024
const MOST_AT_ONCE = 200
const MOST_OF_A_BOT = 100

/** `bytes` as Telegram sent them; `update_id` undefined if they have none. */
type ForwardedUpdate = { readonly bytes: Buffer; readonly update_id: number | undefined; readonly type: string }

/** `failed`: the program has not accepted it. `held`: another process is forwarding it. */
type RelayResult = ProgramReply | 'failed' | 'held'

export type Relay = {
  forward(bot: LiveBot, update: ForwardedUpdate): Promise<RelayResult>
  close(): Promise<void>
}

export function openRelay(ground: Pick<Ground, 'config' | 'db' | 'log'>): Relay {
  const { config } = ground
  const guarded = guardedAgent({ allowPrivate: config.allowPrivateTargets, connections: MOST_OF_A_BOT })
  const plain = plainAgent({ connections: MOST_OF_A_BOT })
  const marks = openMarks(ground)
  const log = openRelayLog(ground)
  const breakers = new Map<string, Breaker>()
  const under_way = new Map<string, Promise<RelayResult>>()
  const slots = openSlots()

  const breakerOf = ({ id }: LiveBot) => {
    const breaker = breakers.get(id) ?? openBreaker()
    breakers.set(id, breaker)
    return breaker
  }

  const send = async (bot: LiveBot, { bytes, type }: ForwardedUpdate): Promise<RelayResult> => {
    if (!slots.take(bot.id)) return 'failed'
    const breaker = breakerOf(bot)
    if (!breaker.mayTry()) {
      slots.give(bot.id)
      return 'failed'
    }
    const begun = performance.now()
    try {
      const url = URL.parse(bot.relay_url ?? '')
      const answer = await post(url !== null && isListedHost(config, url) ? plain : guarded, bot, bytes)
      log.note(bot, { type, status: answer.status, ms: Math.round(performance.now() - begun), reason: answer.reason })
      breaker.report(answer.reason === null)
      return answer.reason === null ? { body: answer.body } : 'failed'
    } finally {
      slots.give(bot.id)
    }
  }

  const once = async (bot: LiveBot, update: ForwardedUpdate, update_id: number): Promise<RelayResult> => {
    const claim = await marks.claim(bot, update_id)
    if (claim !== 'ours') return claim
    const result = await send(bot, update)
    if (typeof result === 'string') await marks.release(bot, update_id)
    else await marks.markForwarded(bot, update_id, result)
    return result
  }

  return {
    forward(bot, update) {
      const { update_id } = update
      // An update without an id cannot be recognized when it comes again.
      if (update_id === undefined) return send(bot, update)
      const key = `${bot.id} ${update_id}`
      const forwarding = under_way.get(key)
      if (forwarding !== undefined) return forwarding
      const passing = once(bot, update, update_id).finally(() => under_way.delete(key))
      under_way.set(key, passing)
      return passing
    },
    async close() {
      await Promise.allSettled(under_way.values())
      await log.close()
      await Promise.all([guarded.close(), plain.close()])
    },
  }
}

type ProgramResponse = { status: number | null; reason: string | null; body: Buffer | undefined }

async function post(
  dispatcher: Dispatcher,
  { relay_url = '', relay_secret }: LiveBot,
  bytes: Buffer,
): Promise<ProgramResponse> {
  try {
    const { statusCode: status, body } = await request(relay_url, {
      dispatcher,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(relay_secret === undefined ? {} : { 'x-telegram-bot-api-secret-token': relay_secret }),
      },
      body: bytes,
      signal: AbortSignal.timeout(DEADLINE_MS),
    })
    const answer = await limitedBody(body)
    if (answer === undefined) return { status, reason: 'the answer is longer than 64 KiB', body: undefined }
    const isTaken = status >= 200 && status < 300
    return { status, reason: isTaken ? null : `it answered ${status}`, body: isTaken ? methodIn(answer) : undefined }
  } catch (error) {
    return { status: null, reason: wordsOf(error), body: undefined }
  }
}

/** The body; undefined if it is too long. */
async function limitedBody(body: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > MOST_ANSWER_BYTES) {
      body.destroy()
      return undefined
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The body if it is a Bot API call; Telegram ignores all other answers. */
function methodIn(answer: Buffer): Buffer | undefined {
  if (!answer.includes('"method"')) return undefined
  try {
    const reply: unknown = JSON.parse(answer.toString('utf8'))
    return typeof reply === 'object' && reply !== null && 'method' in reply && typeof reply.method === 'string'
      ? answer
      : undefined
  } catch {
    return undefined
  }
}

function wordsOf(error: unknown): string {
  if (error instanceof PrivateTargetError) return 'the address is not public'
  if (!(error instanceof Error)) return 'the program could not be reached'
  if (error.name === 'TimeoutError') return 'no answer within 30 seconds'
  const code = 'code' in error && typeof error.code === 'string' ? `: ${error.code}` : ''
  return `the program could not be reached${code}`
}

/** Limits parallel calls, in total and per bot. */
function openSlots() {
  const busy = new Map<string, number>()
  let all = 0
  return {
    take(id: string): boolean {
      const own = busy.get(id) ?? 0
      if (all >= MOST_AT_ONCE || own >= MOST_OF_A_BOT) return false
      all += 1
      busy.set(id, own + 1)
      return true
    },
    give(id: string): void {
      all -= 1
      const left = (busy.get(id) ?? 1) - 1
      if (left === 0) busy.delete(id)
      else busy.set(id, left)
    },
  }
}
