/**
 * Passes updates on to the program behind: the same bytes, with its own secret. What it does not take is Telegram's to tell again, which keeps it for a
 * day; nothing of it is kept here. A program that fails ten times in a minute is left alone for fifteen seconds.
 */
import { type Dispatcher, request } from 'undici'
import type { Ground } from '../../ground/room.ts'
import { guardedAgent, plainAgent, PrivateTargetError } from '../../ground/guard.ts'
import type { LiveBot } from './live.ts'
import { type Breaker, openBreaker } from './breaker.ts'
import { type Answered, openMarks } from './marks.ts'
import { openRelayLog } from './relay-log.ts'
import { isListed } from './relay-url.ts'

const DEADLINE_MS = 30_000
const MOST_ANSWER_BYTES = 64 * 1024
const MOST_AT_ONCE = 200
const MOST_OF_A_BOT = 100

/** An update on its way: `bytes` as Telegram sent them, `update_id` undefined where they say none. */
type Parcel = { readonly bytes: Buffer; readonly update_id: number | undefined; readonly type: string }

/** What became of it. `failed`: the program has not taken it. `held`: another process is passing it on. */
type Passed = Answered | 'failed' | 'held'

export type Relay = {
  pass(bot: LiveBot, parcel: Parcel): Promise<Passed>
  close(): Promise<void>
}

export function openRelay(ground: Pick<Ground, 'config' | 'db' | 'log'>): Relay {
  const { config } = ground
  const guarded = guardedAgent({ allowPrivate: config.allowPrivateTargets, connections: MOST_OF_A_BOT })
  const plain = plainAgent({ connections: MOST_OF_A_BOT })
  const marks = openMarks(ground)
  const log = openRelayLog(ground)
  const breakers = new Map<string, Breaker>()
  const under_way = new Map<string, Promise<Passed>>()
  const places = openPlaces()

  const breakerOf = ({ id }: LiveBot) => {
    const found = breakers.get(id) ?? openBreaker()
    breakers.set(id, found)
    return found
  }

  const send = async (bot: LiveBot, { bytes, type }: Parcel): Promise<Passed> => {
    if (!places.take(bot.id)) return 'failed'
    const breaker = breakerOf(bot)
    if (!breaker.mayTry()) {
      places.give(bot.id)
      return 'failed'
    }
    const begun = performance.now()
    try {
      const url = URL.parse(bot.relay_url ?? '')
      const answer = await post(url !== null && isListed(config, url) ? plain : guarded, bot, bytes)
      log.note(bot, { type, status: answer.status, ms: Math.round(performance.now() - begun), reason: answer.reason })
      breaker.told(answer.reason === null)
      return answer.reason === null ? { body: answer.body } : 'failed'
    } finally {
      places.give(bot.id)
    }
  }

  const once = async (bot: LiveBot, parcel: Parcel, update_id: number): Promise<Passed> => {
    const standing = await marks.take(bot, update_id)
    if (standing !== 'ours') return standing
    const passed = await send(bot, parcel)
    if (typeof passed === 'string') await marks.free(bot, update_id)
    else await marks.pass(bot, update_id, passed)
    return passed
  }

  return {
    pass(bot, parcel) {
      const { update_id } = parcel
      // What says no number of its own cannot be known again.
      if (update_id === undefined) return send(bot, parcel)
      const key = `${bot.id} ${update_id}`
      const found = under_way.get(key)
      if (found !== undefined) return found
      const passing = once(bot, parcel, update_id).finally(() => under_way.delete(key))
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

type Answer = { status: number | null; reason: string | null; body: Buffer | undefined }

async function post(dispatcher: Dispatcher, { relay_url = '', relay_secret }: LiveBot, bytes: Buffer): Promise<Answer> {
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
    const said = await firstBytes(body)
    if (said === undefined) return { status, reason: 'its answer is longer than 64 KiB', body: undefined }
    const isTaken = status >= 200 && status < 300
    return { status, reason: isTaken ? null : `it answered ${status}`, body: isTaken ? methodIn(said) : undefined }
  } catch (error) {
    return { status: null, reason: wordsOf(error), body: undefined }
  }
}

/** The whole body, or undefined where it is too long. */
async function firstBytes(body: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<Buffer | undefined> {
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

/** The body where it asks Telegram to run a method; Telegram reads nothing else of an answer. */
function methodIn(said: Buffer): Buffer | undefined {
  if (!said.includes('"method"')) return undefined
  try {
    const asked: unknown = JSON.parse(said.toString('utf8'))
    return typeof asked === 'object' && asked !== null && 'method' in asked && typeof asked.method === 'string'
      ? said
      : undefined
  } catch {
    return undefined
  }
}

function wordsOf(error: unknown): string {
  if (error instanceof PrivateTargetError) return 'its address is not public'
  if (!(error instanceof Error)) return 'it could not be reached'
  if (error.name === 'TimeoutError') return 'it did not answer within 30 seconds'
  const code = 'code' in error && typeof error.code === 'string' ? `: ${error.code}` : ''
  return `it could not be reached${code}`
}

/** How many calls are under way at once, of all bots and of each. */
function openPlaces() {
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
