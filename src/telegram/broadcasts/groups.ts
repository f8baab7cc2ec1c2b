/** Groups of messages: taken, sent side by side, and written down before the next one is. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Message } from '../../contract/telegram-message.ts'
import type { Ground } from '../../ground/room.ts'
import { markSubscriber, reachabilityAfter } from '../subscribers/reachability.ts'
import type { ActiveBroadcast } from './sending-state.ts'
import type { Pace, Speed } from './pace.ts'
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
  readonly pace: Pace
  readonly probe: Probe
  readonly terms: SendTerms
  readonly signal: AbortSignal
}

/** `taken`: rows that were decided, 0: there was none. `isRefused`: nobody has this token. `fault`: Telegram refuses the message for whomever it is. */
type GroupEnd = { readonly taken: number; readonly isRefused?: boolean; readonly fault?: string | undefined }

/** Telegram takes one message a second to a chat, by its own clock: a tenth is for what lies between. */
const CHAT_MS = 1100
/** So many refusals in a row with the same words are the message's fault. */
const SAME_FAULTS = 3
const AGAIN_MS = 500
/** How long a process that ends tries to write down what it has sent. */
const CLOSING_TRIES = 10

type Sent = { readonly recipient: Recipient; readonly answer: SendAnswer }

/** The groups of one process that sends for one bot. */
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

  /** Whether Telegram has taken this broadcast's message from this process. */
  isAccepted(id: string): boolean {
    return this.#accepted.has(id)
  }

  /** To be called before the lease is asked for. */
  leaseBegins(now: number): void {
    this.#leaseEnds = now + this.#parts.terms.lease_ms
  }

  /** How many the next group of this broadcast may hold at most: one that follows refusals no more than would be enough of them. */
  most(id: string): number {
    if (this.#parts.probe.isInDoubt()) return 1
    return this.#faults.has(id) ? SAME_FAULTS - (this.#faults.get(id)?.times ?? 0) : Number.POSITIVE_INFINITY
  }

  /** Sends to the next few. `silence` is told first where Telegram asks for it, so that a restart keeps it as well. */
  async send(
    token: string,
    broadcast: ActiveBroadcast,
    { count, speed }: { count: number; speed: Speed },
    silence: (retry_after: number) => Promise<void>,
  ): Promise<GroupEnd> {
    const { db, database } = this.#ground
    const { pace, probe } = this.#parts
    const { id, message, paid, on_unknown } = broadcast
    const { recipients, taken } = await claimGroup({ db, pool: database.worker }, this.#sender, broadcast, count)
    if (recipients.length === 0) return { taken }
    const parcel = { org_id: this.#sender.org_id, broadcast_id: id, token, message, paid }
    const fillings = await this.#readFillings(parcel, recipients)
    await this.#awaitChats(recipients)
    // Frozen meanwhile: another process may have the bot by now.
    if (fillings === undefined || performance.now() > this.#leaseEnds) {
      await this.#tell(id, recipients.map(requeuedSend))
      return { taken }
    }
    pace.begin(recipients.length, speed, performance.now())
    const sent = await Promise.all(recipients.map(recipient => this.#send(recipient, parcel, fillings)))
    const failures = sent.flatMap(({ answer }) => (answer.ok ? [] : [answer]))
    const lost = failures.filter(({ kind }) => kind === 'unknown' || kind === 'unsent').length
    if (lost < sent.length) probe.answered()
    if (lost > 0) probe.doubt(performance.now())
    const waits = failures.flatMap(({ kind, retry_after }) => (kind === 'later' ? [retry_after ?? 1] : []))
    if (waits.length > 0) {
      pace.slow(performance.now())
      await this.#untilDone(() => silence(Math.max(...waits)))
    }
    const told = sent.map(({ recipient, answer }) => outcomeOfSend(recipient, answer, { message, on_unknown }))
    await this.#tell(id, told)
    await this.#untilDone(() => this.#mark(sent, message))
    return { taken, isRefused: failures.some(({ kind }) => kind === 'token'), fault: this.#faultIn(id, sent, message) }
  }

  async #readFillings(parcel: OutgoingMessage, recipients: readonly Recipient[]): Promise<MessageFillings | undefined> {
    try {
      return await readFillings(this.#ground, parcel, recipients)
    } catch (error) {
      this.#ground.log.warn({ err: error }, 'messages of a broadcast could not be filled in; it is tried again')
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

  async #send(recipient: Recipient, parcel: OutgoingMessage, fillings: MessageFillings): Promise<Sent> {
    const answer = await sendOne(this.#ground, parcel, recipient, fillings)
    this.#parts.pace.answered(performance.now())
    this.#chats.set(recipient.telegram_user_id, performance.now())
    return { recipient, answer }
  }

  #tell(id: string, told: readonly SendOutcome[]): Promise<void> {
    return this.#untilDone(() => recordOutcomes(this.#ground.database.worker, this.#sender, id, told))
  }

  /** Written down however long the database is away: until then nothing else is sent. */
  async #untilDone(write: () => Promise<void>): Promise<void> {
    for (let tries = 0; ; ) {
      try {
        return await write()
      } catch (error) {
        if (this.#parts.signal.aborted) tries += 1
        if (tries > CLOSING_TRIES) throw error
        this.#ground.log.warn({ err: error }, 'what came of messages could not be written down; it is tried again')
        await sleep(AGAIN_MS)
      }
    }
  }

  /** Writes what the answers say of whom they were for. */
  async #mark(sent: readonly Sent[], message: Message): Promise<void> {
    const at = new Date().toISOString()
    const { org_id, bot_id } = this.#sender
    for (const { recipient, answer } of sent) {
      const state = answer.ok ? undefined : reachabilityAfter(answer, message)
      if (state === undefined) continue
      const { telegram_user_id } = recipient
      await markSubscriber(this.#ground.db, { org_id, bot_id, telegram_user_id, state, at })
    }
  }

  /** Counts refusals that have to do with nobody in particular; answers their words once there are enough. */
  #faultIn(id: string, sent: readonly Sent[], message: Message): string | undefined {
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
