// A fake Bot API on loopback for TELEGRAM_API_ROOT, as strict as Telegram. A test creates bots, chats and people, lets people act, and reads the calls,
// messages and webhook attempts. The fake has its own clock, which a test can move.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { BOT_METHODS, type Method } from './bot-methods.ts'
import { CHAT_METHODS } from './chat-methods.ts'
import { openFaults, type Faults } from './faults.ts'
import { openHooks } from './hooks.ts'
import { type FakeBot, type FakeChat, type FakePerson, makeBot, makeChat, makePerson } from './people.ts'
import { SEND_METHODS } from './send-methods.ts'
import { type BotState, type Call, type Message, TelegramError, type World } from './world.ts'

export type { FakeBot, FakeChat, FakePerson } from './people.ts'
export type { Call, Message } from './world.ts'

export type TelegramFake = {
  /** For TELEGRAM_API_ROOT. */
  readonly origin: string
  /** All calls in the order of arrival, including refused ones. */
  readonly calls: readonly Call[]
  /** All sent messages. */
  readonly messages: readonly Message[]
  readonly faults: Faults
  bot(about?: { username?: string; name?: string; token?: string }): FakeBot
  chat(about?: { type?: 'channel' | 'supergroup' | 'group'; title?: string; username?: string }): FakeChat
  person(about?: { first_name?: string; username?: string; language_code?: string }): FakePerson
  /** Sends updates for webhooks of a public origin to another origin, such as the loopback address of a house. */
  reach(publicOrigin: string, at: string): void
  /** Unix milliseconds by the fake's clock. */
  now(): number
  /** Moves the clock and sends updates that are due. */
  advance(ms: number): void
  /** Moves the clock until every update is accepted or given up; at most `within_ms` of the fake's time. */
  settled(within_ms?: number): Promise<void>
  /** The methods that a bot has called since call number `from`, in order. */
  methods(bot: FakeBot, from?: number): string[]
  /** Forgets all calls and messages, so that the memory of a long run stays flat. */
  forget(): void
  close(): Promise<void>
}

const METHODS: Readonly<Record<string, Method>> = { ...BOT_METHODS, ...CHAT_METHODS, ...SEND_METHODS }
const DAY_MS = 86_400_000

/** Starts the fake. It listens until it is closed. */
export async function startTelegram(): Promise<TelegramFake> {
  const world = openWorld()
  const hooks = openHooks(world.world)
  world.pumpBy(hooks.pump)
  const server = createServer(
    (request, response) => void answer(world.world, request, response).catch(() => response.destroy()),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { bots, calls, messages, faults, reach, now } = world.world
  const advance = (ms: number) => {
    world.pass(ms)
    for (const bot of bots.values()) hooks.pump(bot)
  }
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    messages,
    faults,
    bot: about => makeBot(world.world, about),
    chat: about => makeChat(world.world, about),
    person: about => makePerson(world.world, about),
    reach: (from, at) => void reach.set(from, at),
    now,
    advance,
    async settled(within_ms = 2 * DAY_MS) {
      for (const until = now() + within_ms; ; ) {
        await Promise.allSettled(hooks.underWay())
        const due = hooks.nextDue()
        if (hooks.underWay().size === 0 && (due === undefined || due > until)) return
        if (due !== undefined && hooks.underWay().size === 0) advance(Math.max(0, due - now()))
      }
    },
    methods: (bot, from = 0) =>
      calls.slice(from).flatMap(({ token, method }) => (token.split(':', 1)[0] === String(bot.id) ? [method] : [])),
    forget() {
      calls.length = 0
      messages.length = 0
    },
    async close() {
      faults.clear()
      await hooks.close()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function openWorld() {
  let passed = 0
  let pump: World['pump'] = () => {}
  const world: World = {
    bots: new Map(),
    chats: new Map(),
    people: new Map(),
    links: new Map(),
    messages: [],
    calls: [],
    faults: openFaults(),
    reach: new Map(),
    now: () => Date.now() + passed,
    pump: bot => pump(bot),
    run(bot, method, params) {
      const found =
        METHODS[method] ?? METHODS[Object.keys(METHODS).find(name => name.toLowerCase() === method.toLowerCase()) ?? '']
      if (found === undefined) throw new TelegramError(404, 'Not Found: method not found')
      return found(world, bot, params)
    },
  }
  return {
    world,
    pass: (ms: number) => void (passed += ms),
    pumpBy: (own: World['pump']) => {
      pump = own
    },
  }
}

async function answer(world: World, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, token = '', method = ''] = /^\/bot([^/]+)\/(\w+)/.exec(request.url ?? '') ?? []
  const params = await paramsOf(request)
  const call: Call = { at: world.now(), method, token, params, via: 'http', status: 0 }
  world.calls.push(call)
  const fault = world.faults.take(method, token)
  if (fault === 'drop') return void response.destroy()
  if (fault === 'hang') {
    await world.faults.cleared()
    return void response.destroy()
  }
  if (typeof fault === 'number') {
    call.status = fault
    return void response.writeHead(fault, { 'content-type': 'text/html' }).end(`<html><h1>${fault}</h1></html>`)
  }
  const { status, body } = judged(
    world,
    token,
    method,
    params,
    typeof fault === 'object' ? fault.retry_after : undefined,
  )
  if (fault === 'accept_then_drop') return void response.destroy()
  call.status = status
  if (!body.ok) call.description = body.description
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

type Body = { ok: true; result: unknown } | { ok: false; error_code: number; description: string; parameters?: object }

function judged(
  world: World,
  token: string,
  method: string,
  params: Call['params'],
  retry_after: number | undefined,
): { status: number; body: Body } {
  try {
    if (retry_after !== undefined)
      throw new TelegramError(429, `Too Many Requests: retry after ${retry_after}`, { retry_after })
    return { status: 200, body: { ok: true, result: world.run(botOf(world, token), method, params) } }
  } catch (error) {
    if (!(error instanceof TelegramError)) throw error
    const { code, message: description, parameters } = error
    return {
      status: code,
      body: { ok: false, error_code: code, description, ...(parameters === undefined ? {} : { parameters }) },
    }
  }
}

function botOf(world: World, token: string): BotState {
  if (!/^\d+:[\w-]+$/.test(token)) throw new TelegramError(404, 'Not Found')
  const bot = [...world.bots.values()].find(one => one.token === token)
  if (bot === undefined) throw new TelegramError(401, 'Unauthorized')
  return bot
}

async function paramsOf(request: IncomingMessage): Promise<Call['params']> {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  const { searchParams } = new URL(request.url ?? '/', 'http://fake')
  const sent: unknown = body === '' ? {} : JSON.parse(body)
  return { ...Object.fromEntries(searchParams), ...(sent as object) }
}
