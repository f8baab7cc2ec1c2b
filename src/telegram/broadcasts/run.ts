/**
 * Sends for one bot in one process, step by step. Each step reads the current state first. It ends when nothing is left to do, nothing may be sent for
 * long, or another process has the bot. The oldest broadcast that may send goes first; tasks of the bot go before broadcasts.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { databaseTimeIn } from '../../ground/db/clock.ts'
import type { Ground } from '../../ground/room.ts'
import { checkBotSoon } from '../bots/check-soon.ts'
import { silenceBot } from '../bots/silence.ts'
import { MOST_FREE, MOST_PAID } from './api.ts'
import { beginScheduled, endIfDone, type BroadcastKey, pauseFor } from './counts.ts'
import { GroupSender } from './groups.ts'
import { mayBeSent, closedFor } from './hours.ts'
import {
  type BotState,
  readSendingState,
  TOKEN_REVOKED,
  type SendingState,
  type ActiveBroadcast,
} from './sending-state.ts'
import type { SendingPace, Speed } from './pace.ts'
import { preparePortion } from './preparing.ts'
import { openProbe, type Probe } from './probe.ts'
import { releaseBot, renewBot, restBot, type SenderLease } from './senders.ts'
import { skipQueued, decideAbandoned } from './sends.ts'
import type { SendTerms } from './terms.ts'

export type SendGround = Pick<Ground, 'db' | 'database' | 'config' | 'secrets' | 'log'>

/** Telegram advises small bursts, and a crash leaves at most one group undecided. */
const GROUP = 3
const PAID_GROUP = 50
const SWEEP_EVERY_MS = 1000
const IDLE_MS = 1000
const TASK_MS = 50
/** A resting bot is checked at least this often. */
const MOST_REST_MS = 600_000

type RunParts = {
  readonly terms: SendTerms
  readonly signal: AbortSignal
  readonly pace: SendingPace
  /** Resolves when a broadcast has changed. */
  readonly woken: () => Promise<void>
}

/** Sends until nothing is left to do or nothing may be sent for long. @throws database errors; another process may take the bot when the lease ends */
export async function runBot(ground: SendGround, sender: SenderLease, parts: RunParts): Promise<RunEnd | undefined> {
  const run = new Run(ground, sender, parts)
  while (!parts.signal.aborted) {
    const pause = await run.step()
    if (pause === 'lost') return pause
    if (typeof pause === 'string') {
      await releaseBot(ground.database.worker, sender)
      return pause
    }
    if (pause > 0) await sleepUntilWoken(Math.min(pause, parts.terms.lease_ms / 3), parts)
  }
  await releaseBot(ground.database.worker, sender)
  return undefined
}

async function sleepUntilWoken(ms: number, { signal, woken }: RunParts): Promise<void> {
  const stop = new AbortController()
  const done = AbortSignal.any([signal, stop.signal])
  await Promise.race([woken(), sleep(ms, undefined, { signal: done }).catch(() => {})])
  stop.abort()
}

/** Why a run ended. over: nothing is left; rest: nothing may be sent for long; lost: another process has the bot. */
type RunEnd = 'over' | 'rest' | 'lost'
/** How long the next step may wait, ms. */
type Pause = number | RunEnd

class Run {
  readonly #ground: SendGround
  readonly #sender: SenderLease
  readonly #terms: SendTerms
  readonly #pace: SendingPace
  readonly #probe: Probe
  readonly #groups: GroupSender
  #swept = Number.NEGATIVE_INFINITY
  #expected: { readonly count: number; readonly speed: Speed } | undefined

  constructor(ground: SendGround, sender: SenderLease, { terms, signal, pace }: RunParts) {
    this.#ground = ground
    this.#sender = sender
    this.#terms = terms
    this.#pace = pace
    this.#probe = openProbe(terms)
    this.#groups = new GroupSender(ground, sender, { pace, probe: this.#probe, terms, signal })
  }

  /** Reads the state, does one thing, and returns how long the next step may wait. */
  async step(): Promise<Pause> {
    // Wait before reading the state, so that the state is fresh when the group is sent.
    const expected = this.#expected
    const ahead = expected === undefined ? 0 : this.#pace.wait(expected.count, expected.speed, performance.now())
    this.#expected = undefined
    if (ahead > 0) return ahead
    this.#groups.leaseBegins(performance.now())
    const { worker: pool } = this.#ground.database
    if (!(await renewBot(pool, this.#sender, this.#terms))) return 'lost'
    const seen = await readSendingState(pool, this.#ground.secrets, this.#sender)
    if (seen === undefined || seen.broadcasts.length === 0) return 'over'
    const { halt } = seen.bot
    if (halt !== undefined) await this.#halt(seen, halt)
    const hasWorked = await this.#keepBooks(seen)
    const broadcast = halt === undefined ? this.#next(seen) : undefined
    if (broadcast === undefined) return hasWorked ? 0 : await this.#rest(seen, this.#closedFor(seen), IDLE_MS)
    const { silent_ms } = seen.bot
    if (silent_ms > 0) return hasWorked ? 0 : await this.#rest(seen, silent_ms, silent_ms)
    const wait = await this.#obstacle(seen)
    if (wait !== undefined) return hasWorked ? 0 : wait
    return await this.#send(seen, broadcast)
  }

  #key(id: string): BroadcastKey {
    return { org_id: this.#sender.org_id, id }
  }

  async #halt({ broadcasts }: SendingState, reason: string): Promise<void> {
    for (const { id, state } of broadcasts)
      if (state === 'preparing' || state === 'sending')
        await pauseFor(this.#ground.database.worker, this.#key(id), reason)
  }

  /** The work that needs no Telegram: abandoned rows, starts, preparing, ending. Returns whether anything was done. */
  async #keepBooks({ broadcasts }: SendingState): Promise<boolean> {
    const { db, database } = this.#ground
    const pool = database.worker
    const isSweeping = performance.now() - this.#swept >= SWEEP_EVERY_MS
    if (isSweeping) this.#swept = performance.now()
    let done = 0
    for (const broadcast of broadcasts) {
      const { id, state, is_due, has_sending, has_queued } = broadcast
      if (has_sending && isSweeping) await decideAbandoned(pool, this.#sender, broadcast, this.#terms)
      if (is_due) done += Number(await beginScheduled(pool, this.#key(id)))
      if (state === 'preparing')
        done += Number(await preparePortion({ db, pool }, this.#sender, broadcast, this.#terms.portion))
      if (state === 'sending' && !has_queued && !has_sending) done += Number(await endIfDone(pool, this.#key(id)))
      if (state !== 'stopped') continue
      done += await skipQueued(pool, this.#key(id), this.#terms.portion)
      done += Number(await endIfDone(pool, this.#key(id)))
    }
    return done > 0
  }

  /** The next broadcast to send: the oldest that may send now and has queued recipients. */
  #next({ bot, broadcasts }: SendingState): ActiveBroadcast | undefined {
    return broadcasts.find(one => one.state === 'sending' && one.has_queued && mayBeSent(one, bot.now))
  }

  /** How long the hours of all these broadcasts forbid sending; 0 if one of them has other work. */
  #closedFor({ bot, broadcasts }: SendingState): number {
    const waits = broadcasts.map(one =>
      one.state === 'sending' && one.has_queued ? closedFor(one, bot.now, MOST_REST_MS) : 0,
    )
    return Math.min(...waits)
  }

  /** Rests the bot if nothing may be sent for longer than a lease and there is no other work; else returns `otherwise`. */
  async #rest(
    { bot, broadcasts, next_ms = MOST_REST_MS }: SendingState,
    ms: number,
    otherwise: number,
  ): Promise<Pause> {
    const shortest = Math.min(ms, next_ms, MOST_REST_MS)
    const isBusy = broadcasts.some(({ has_sending, state }) => has_sending || state !== 'sending')
    if (isBusy || shortest <= this.#terms.lease_ms) return otherwise
    const hasRest = await restBot(this.#ground.database.worker, this.#sender, { ms: shortest, seen_at: bot.now })
    return hasRest ? 'rest' : Math.min(otherwise, IDLE_MS)
  }

  /** How long a task or a probe delays sending; undefined if nothing does. */
  async #obstacle(seen: SendingState): Promise<number | undefined> {
    const { bot } = seen
    if (bot.has_task) return TASK_MS
    const wait = this.#probe.wait(performance.now())
    if (wait === undefined || wait > 0) return wait
    const failure = await this.#probe.ask(this.#ground.config.telegramApiRoot, bot.token)
    if (failure?.kind === 'later') {
      this.#pace.slow(performance.now())
      await this.#silence(failure.retry_after ?? 1)
    }
    if (failure?.kind === 'token') await this.#refuseToken(seen)
    return 0
  }

  async #silence(retry_after: number): Promise<void> {
    const { db } = this.#ground
    const { org_id, bot_id: id } = this.#sender
    await silenceBot(db, { org_id, id }, await databaseTimeIn(db, retry_after * 1000))
  }

  async #refuseToken(seen: SendingState): Promise<void> {
    await this.#halt(seen, TOKEN_REVOKED)
    await checkBotSoon(this.#ground.db, { org_id: this.#sender.org_id, id: this.#sender.bot_id })
  }

  async #send(seen: SendingState, broadcast: ActiveBroadcast): Promise<Pause> {
    const speed = speedOf(seen.bot, broadcast)
    const size = broadcast.paid && this.#groups.isAccepted(broadcast.id) ? PAID_GROUP : GROUP
    const count = Math.max(1, Math.min(size, Math.floor(speed.rate), this.#groups.most(broadcast.id)))
    this.#expected = { count, speed }
    const wait = this.#pace.wait(count, speed, performance.now())
    if (wait > 0) return wait
    const silence = (retry_after: number) => this.#silence(retry_after)
    const group = await this.#groups.send(seen.bot.token, broadcast, { count, speed }, silence)
    const { worker: pool } = this.#ground.database
    if (group.isRefused === true) await this.#refuseToken(seen)
    if (group.fault !== undefined) await pauseFor(pool, this.#key(broadcast.id), group.fault)
    if (group.taken > 0) return 0
    return (await endIfDone(pool, this.#key(broadcast.id))) ? 0 : IDLE_MS
  }
}

function speedOf({ send_per_second }: BotState, { paid, per_second }: ActiveBroadcast): Speed {
  const most = paid ? MOST_PAID : MOST_FREE
  return { rate: Math.min(per_second ?? (paid ? MOST_PAID : send_per_second), most), most }
}
