/** Sends groups of messages: claims recipients, sends in parallel, and records the outcomes before the next group. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Message } from '../../contract/telegram-message.ts'
import type { Ground } from '../../ground/room.ts'
import { markSubscriber, reachabilityAfter } from '../subscribers/reachability.ts'
import type { ActiveBroadcast } from './sending-state.ts'
import type { SendingPace, Speed } from './pace.ts'
import type { Probe } from './probe.ts'
import type { SenderLease } from './senders.ts'
import {
  type SendAnswer,
  requeuedSend,
  faultOfMessageIn,
  readFillings,
  type MessageFillings,
  outcomeOfSend,
  type OutgoingMessage,
  sendOne,
} from './sending.ts'
import { claimGroup, type Recipient, recordOutcomes, type SendOutcome } from './sends.ts'
import type { SendTerms } from './terms.ts'

type Sending = Pick<Ground, 'db' | 'database' | 'config' | 'log'>

type GroupParts = {
  readonly pace: SendingPace
  readonly probe: Probe
  readonly terms: SendTerms
  readonly signal: AbortSignal
}

/** `taken`: claimed rows, including skipped ones. `isRefused`: Telegram rejects the token. `fault`: Telegram rejects the message for everyone. */
type GroupResult = { readonly taken: number; readonly isRefused?: boolean; readonly fault?: string | undefined }

/** Telegram allows one message per second to a chat, by its own clock; 100 ms are for the network. */
const CHAT_MS = 1100
/** So many equal rejections in a row mean that the message itself is at fault. */
const SAME_FAULTS = 3
const AGAIN_MS = 500
/** Attempts to record outcomes while the process is closing. */
const CLOSING_TRIES = 10

type AnsweredSend = { readonly recipient: Recipient; readonly answer: SendAnswer }

/** Sends the groups of one bot in one process. */
export class GroupSender {
  readonly #ground: Sending
  readonly #sender: SenderLease
  readonly #parts: GroupParts
  readonly #faults = new Map<string, { words: string; times: number }>()
  readonly #accepted = new Set<string>()
  #chats = new Map<string, number>()
  #leaseEnds = 0

  constructor(ground: Sending, sender: SenderLease, parts: GroupParts) {
    this.#ground = ground
    this.#sender = sender
    this.#parts = parts
  }

  /** Whether Telegram has accepted this broadcast's message from this process. */
  isAccepted(id: string): boolean {
    return this.#accepted.has(id)
  }

  /** Call it before the lease is renewed. */
  leaseBegins(now: number): void {
    this.#leaseEnds = now + this.#parts.terms.lease_ms
  }

  /** The largest next group of this broadcast. After rejections it is only as large as needed to be sure of the message's fault. */
  most(id: string): number {
    if (this.#parts.probe.isInDoubt()) return 1
    return this.#faults.has(id) ? SAME_FAULTS - (this.#faults.get(id)?.times ?? 0) : Number.POSITIVE_INFINITY
  }

  /** Sends to the next recipients. On a rate limit `silence` is stored before the outcomes, so that it survives a restart. */
  async send(
    token: string,
    broadcast: ActiveBroadcast,
    { count, speed }: { count: number; speed: Speed },
    silence: (retry_after: number) => Promise<void>,
  ): Promise<GroupResult> {
    const { db, database } = this.#ground
    const { pace, probe } = this.#parts
    const { id, message, paid, on_unknown } = broadcast
    const { recipients, taken } = await claimGroup({ db, pool: database.worker }, this.#sender, broadcast, count)
    if (recipients.length === 0) return { taken }
    const outgoing = { org_id: this.#sender.org_id, broadcast_id: id, token, message, paid }
    const fillings = await this.#readFillings(outgoing, recipients)
    await this.#awaitChats(recipients)
    // If the process was frozen, another one may send for the bot by now.
    if (fillings === undefined || performance.now() > this.#leaseEnds) {
      await this.#tell(id, recipients.map(requeuedSend))
      return { taken }
    }
    pace.begin(recipients.length, speed, performance.now())
    const sent = await Promise.all(recipients.map(recipient => this.#send(recipient, outgoing, fillings)))
    const failures = sent.flatMap(({ answer }) => (answer.ok ? [] : [answer]))
    const lost = failures.filter(({ kind }) => kind === 'unknown' || kind === 'unsent').length
    if (lost < sent.length) probe.answered()
    if (lost > 0) probe.doubt(performance.now())
    const waits = failures.flatMap(({ kind, retry_after }) => (kind === 'later' ? [retry_after ?? 1] : []))
    if (waits.length > 0) {
      pace.slow(performance.now())
      await this.#untilDone(() => silence(Math.max(...waits)))
    }
    const outcomes = sent.map(({ recipient, answer }) => outcomeOfSend(recipient, answer, { message, on_unknown }))
    await this.#tell(id, outcomes)
    await this.#untilDone(() => this.#mark(sent, message))
    return { taken, isRefused: failures.some(({ kind }) => kind === 'token'), fault: this.#faultIn(id, sent, message) }
  }

  async #readFillings(
    outgoing: OutgoingMessage,
    recipients: readonly Recipient[],
  ): Promise<MessageFillings | undefined> {
    try {
      return await readFillings(this.#ground, outgoing, recipients)
    } catch (error) {
      this.#ground.log.warn({ err: error }, 'could not fill in messages of a broadcast; retrying')
      this.#parts.probe.hold(performance.now())
      return undefined
    }
  }

  /** Waits until the last message to each of these chats is a second ago. */
  async #awaitChats(recipients: readonly Recipient[]): Promise<void> {
    const now = performance.now()
    this.#chats = new Map([...this.#chats].filter(([, at]) => now - at < CHAT_MS))
    const last = Math.max(...recipients.map(one => this.#chats.get(one.telegram_user_id) ?? Number.NEGATIVE_INFINITY))
    if (last + CHAT_MS > now) await sleep(last + CHAT_MS - now)
  }

  async #send(recipient: Recipient, outgoing: OutgoingMessage, fillings: MessageFillings): Promise<AnsweredSend> {
    const answer = await sendOne(this.#ground, outgoing, recipient, fillings)
    this.#parts.pace.answered(performance.now())
    this.#chats.set(recipient.telegram_user_id, performance.now())
    return { recipient, answer }
  }

  #tell(id: string, outcomes: readonly SendOutcome[]): Promise<void> {
    return this.#untilDone(() => recordOutcomes(this.#ground.database.worker, this.#sender, id, outcomes))
  }

  /** Retries until the outcomes are stored: nothing else is sent before. */
  async #untilDone(write: () => Promise<void>): Promise<void> {
    for (let tries = 0; ; ) {
      try {
        return await write()
      } catch (error) {
        if (this.#parts.signal.aborted) tries += 1
        if (tries > CLOSING_TRIES) throw error
        this.#ground.log.warn({ err: error }, 'could not record outcomes of messages; retrying')
        await sleep(AGAIN_MS)
      }
    }
  }

  /** Updates the state of subscribers by Telegram's answers, such as blocked. */
  async #mark(sent: readonly AnsweredSend[], message: Message): Promise<void> {
    const at = new Date().toISOString()
    const { org_id, bot_id } = this.#sender
    for (const { recipient, answer } of sent) {
      const state = answer.ok ? undefined : reachabilityAfter(answer, message)
      if (state === undefined) continue
      const { telegram_user_id } = recipient
      await markSubscriber(this.#ground.db, { org_id, bot_id, telegram_user_id, state, at })
    }
  }

  /** Counts equal rejections of the message itself; returns their text once there are enough. */
  #faultIn(id: string, sent: readonly AnsweredSend[], message: Message): string | undefined {
    for (const { answer } of sent) {
      if (answer.ok) {
        this.#faults.delete(id)
        this.#accepted.add(id)
        continue
      }
      const words = faultOfMessageIn(answer, message)
      if (words === undefined) continue
      const known = this.#faults.get(id)
      const times = known?.words === words ? known.times + 1 : 1
      this.#faults.set(id, { words, times })
      if (times < SAME_FAULTS) continue
      this.#faults.delete(id)
      return words
    }
    return undefined
  }
}
