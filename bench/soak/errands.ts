// What people do during a soak beside the traffic: they read the report and the feed, ask Explore, send one broadcast after another, and have the spend
// of an ad account read.
import { setTimeout as sleep } from 'node:timers/promises'
import { toWireId } from '../../src/contract/ids.ts'
import { DIMENSIONS } from '../../src/reading/reports/api.ts'
import { questionsOn } from '../explore-questions.ts'
import { median } from '../ratio.ts'
import { Asking, windowOf } from '../readings.ts'
import type { Stage } from './stage.ts'
import type { SoakTerms } from './terms.ts'

export const QUESTIONS = ['report', 'feed', 'explore'] as const
export type AskedMs = Record<(typeof QUESTIONS)[number], number>

/** `wrong`: broadcasts whose messages were not exactly one for each recipient. */
export type Sent = { broadcasts: number; messages: number; wrong: string[] }

export type Errands = {
  /** The median duration of each question since the last call, or its last duration. */
  take(): AskedMs
  readonly sent: Sent
  /** How often the spend of the ad account was asked for. */
  readonly spends: { asked: number; account: Record<string, unknown> }
  /** The first failures, and the number of all. */
  readonly faults: { count: number; first: string[] }
  /** Resolves once the last errand has ended. */
  end(): Promise<void>
}

/** Starts all errands. Each question has been answered once when it resolves. */
export async function beginErrands(stage: Stage, terms: SoakTerms): Promise<Errands> {
  const { organization, session, server } = stage
  const took: Record<keyof AskedMs, number[]> = { report: [], feed: [], explore: [] }
  const last: AskedMs = { report: Number.NaN, feed: Number.NaN, explore: Number.NaN }
  const asking = new Asking(server)
  const counts: Record<keyof AskedMs, number> = { report: 0, feed: 0, explore: 0 }
  const ask: Record<keyof AskedMs, (count: number) => Promise<unknown>> = {
    report: count => {
      const dimension = DIMENSIONS[count % DIMENSIONS.length]
      return asking.ask(organization.key, `/api/v1/report?dimension=${dimension}&${windowOf(Date.now())}`)
    },
    feed: () => asking.ask(organization.key, `/api/v1/clicks?${windowOf(Date.now())}&tracked=all&limit=100`),
    explore: count => {
      const questions = questionsOn(organization.campaigns, { to: Date.now(), days: 1 })
      return session.call('POST', '/api/explore', questions[count % questions.length]?.asked.question)
    },
  }
  const timed = async (kind: keyof AskedMs) => {
    const started = performance.now()
    await ask[kind](counts[kind])
    last[kind] = performance.now() - started
    counts[kind] += 1
    took[kind].push(last[kind])
  }
  for (const kind of QUESTIONS) await timed(kind)
  const closing = new AbortController()
  const { signal } = closing
  const sent: Sent = { broadcasts: 0, messages: 0, wrong: [] }
  const spends = { asked: 0, account: {} }
  const faults: Errands['faults'] = { count: 0, first: [] }
  const repeatedly = async (seconds: number, work: () => Promise<void>) => {
    while (!signal.aborted) {
      await work().catch((error: unknown) => noteFault(faults, error))
      await sleep(seconds * 1000, undefined, { signal }).catch(() => {})
    }
  }
  const running = [
    ...QUESTIONS.map(kind => repeatedly(terms.every[kind], () => timed(kind))),
    repeatedly(1, () => sendBroadcast(stage, terms, sent)),
    repeatedly(terms.every.spend, () => readSpend(stage, spends)),
  ]
  let ending: Promise<void> | undefined
  return {
    take() {
      const of = (kind: keyof AskedMs) => {
        const times = took[kind].splice(0)
        return times.length === 0 ? last[kind] : median(times)
      }
      return { report: of('report'), feed: of('feed'), explore: of('explore') }
    },
    sent,
    spends,
    faults,
    end() {
      closing.abort()
      ending ??= Promise.all(running).then(asking.close)
      return ending
    },
  }
}

const MOST_FAULTS = 10

function noteFault(faults: Errands['faults'], error: unknown): void {
  faults.count += 1
  if (faults.first.length < MOST_FAULTS) faults.first.push(error instanceof Error ? error.message : String(error))
}

const LOOK_MS = 500
/** A broadcast takes a minute. */
const PATIENCE_MS = 600_000

/** Sends a broadcast to all subscribers of the bot, and counts its messages at the fake. */
async function sendBroadcast({ session, telegram, bot_id }: Stage, terms: SoakTerms, sent: Sent): Promise<void> {
  const draft = { bot_id: toWireId(bot_id), name: `Soak ${sent.broadcasts + 1}`, message: { text: 'Hello' } }
  const id = String((await session.call('POST', '/api/broadcasts', draft))['id'])
  await session.call('POST', `/api/broadcasts/${id}/start`, { expected_recipients: terms.recipients })
  const until = performance.now() + PATIENCE_MS
  for (let isOver = false; !isOver; ) {
    if (performance.now() > until) throw new Error(`a broadcast has not ended after ${PATIENCE_MS / 60_000} minutes`)
    await sleep(LOOK_MS)
    const broadcast = await session.call('GET', `/api/broadcasts/${id}`)
    const state = String(broadcast['state'])
    if (state === 'paused' || state === 'stopped')
      throw new Error(`a broadcast is ${state}: ${JSON.stringify(broadcast)}`)
    isOver = state === 'done'
  }
  const chats = telegram.messages.map(({ chat }) => chat)
  telegram.forget()
  sent.broadcasts += 1
  sent.messages += chats.length
  if (chats.length !== terms.recipients || new Set(chats).size !== terms.recipients)
    sent.wrong.push(`broadcast ${sent.broadcasts}: ${chats.length} messages to ${new Set(chats).size} people`)
}

/** Spend grows at the platform, and Sluice is asked to read it now. */
async function readSpend(stage: Stage, read: Errands['spends']): Promise<void> {
  stage.spends()
  read.account = await stage.session.call('POST', `/api/spend-accounts/${stage.account_id}/sync`, {})
  read.asked += 1
}
