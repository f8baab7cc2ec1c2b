/**
 * The links of one channel that this process may give away. It takes them ahead of visitors, so that none of them waits for Telegram, and hardly
 * one for the database. What a process holds when it is killed is given to nobody any more.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { LiveChannel } from '../campaigns/live.ts'
import { MINUTE_MS } from '../../contract/days.ts'
import { lifeNeeded } from './invite-links.ts'
import { countGiven, releaseLinks, type LinkBatch, renewBatches, spendBatches, takeBatches } from './leases.ts'
import { BATCH } from './making.ts'
import { type BatchLink, linksOf } from './words.ts'

/** However quiet it is, so that the first visitors of a busy hour find some. */
const LEAST = 8
/** Of one question: reading more at once would keep visitors waiting. */
const MOST = 256
/** However busy it is: so many a process that is killed may cost. */
const LARGEST = 1024
/** More are asked for before this part of them is left. */
const ENOUGH = 0.75
/** What is used is remembered by tenths of this. */
const SLOT_MS = MINUTE_MS / 10
/** While there are no links, or nobody who says so, it is asked so often. */
const AGAIN_MS = 1000
const RENEW_MS = 10 * MINUTE_MS
/** What nobody has come for goes back, unless a campaign leads there. */
const IDLE_MS = 10 * MINUTE_MS

/** A batch that is held; of its links, read when the first is given, the first `left` are given to nobody yet. */
type Held = LinkBatch & { left: number; links: readonly BatchLink[] | undefined }

export class Stock {
  readonly channel: LiveChannel
  readonly #pool: pg.Pool
  readonly #of: { org_id: number; channel_id: string; by: string }
  readonly #life_ms: number
  /** Those with links that nobody has. The last one is given from first; it ends first. */
  #open: Held[] = []
  /** What has none left, and what has too little time left, until the database is told so. */
  #spent: Held[] = []
  #over: Held[] = []
  /** How many were given by the minute, since the database was told. */
  #given = new Map<number, number>()
  /** Links of a batch, as of those that came last. */
  #usual = BATCH
  /** How many links there are in all. */
  #left = 0
  #uses: { slot: number; count: number }[] = []
  #used_at = performance.now()
  #renewed_at = performance.now()
  #asking: Promise<void> | undefined
  #ask_after = 0

  constructor(pool: pg.Pool, channel: LiveChannel, by: string) {
    this.channel = channel
    this.#pool = pool
    this.#of = { org_id: channel.org_id, channel_id: channel.id, by }
    this.#life_ms = lifeNeeded(channel.link_days)
  }

  /** Whether its links are of the channel as it is. */
  isFor({ chat_id, join_mode, link_days }: LiveChannel): boolean {
    const { channel } = this
    return chat_id === channel.chat_id && join_mode === channel.join_mode && link_days === channel.link_days
  }

  /** Somebody comes: as many links as came in the last minute are taken ahead. */
  note(ms: number): void {
    this.#used_at = performance.now()
    const slot = Math.floor(ms / SLOT_MS)
    const last = this.#uses.at(-1)
    if (last?.slot === slot) last.count += 1
    else this.#uses = [...this.#uses.slice(-9), { slot, count: 1 }]
  }

  /** A link that no click has, or undefined. */
  take(ms: number): BatchLink | undefined {
    const link = this.#pop(ms)
    const minute = Math.floor(ms / MINUTE_MS)
    if (link !== undefined) this.#given.set(minute, (this.#given.get(minute) ?? 0) + 1)
    this.fill()
    return link
  }

  /** Asks for more where it has run down. */
  fill(): void {
    if (this.#left <= this.#wanted() * ENOUGH) void this.ask()
  }

  /** Whether it is worth waiting for links: when they were last asked for there were as many as wanted. */
  isHopeful(): boolean {
    return performance.now() >= this.#ask_after
  }

  /** Asks for more, once at a time. Never rejects. */
  ask(): Promise<void> {
    if (performance.now() < this.#ask_after) return Promise.resolve()
    this.#asking ??= this.#takeMore().finally(() => (this.#asking = undefined))
    return this.#asking
  }

  /** The same for a visitor who waits, though not for long: a database that hangs is left alone for a moment. */
  async askFor(patience_ms: number): Promise<void> {
    const asked = this.ask().then(() => true)
    const isAnswered = await Promise.race([asked, sleep(patience_ms, false, { ref: false })])
    if (!isAnswered) this.#rest()
  }

  #rest(): void {
    this.#ask_after = performance.now() + AGAIN_MS
  }

  /** Says what was given and which batches are used up, renews what is held, and gives back what nobody comes for. */
  async tell(isLedTo: boolean): Promise<void> {
    await this.#tellGiven()
    if (this.#left > 0 && !isLedTo && performance.now() - this.#used_at > IDLE_MS) await this.giveBack()
    if (performance.now() - this.#renewed_at < RENEW_MS) return
    this.#renewed_at = performance.now()
    const held = new Set(this.#open)
    if (held.size === 0) return
    const ids = [...held].map(({ id }) => id)
    const own = await renewBatches(this.#pool, this.#of, ids)
    this.#keep(this.#open.filter(batch => own.has(batch.id) || !held.has(batch)))
  }

  /** @throws what the database throws; what it has not taken back is given to nobody. */
  async giveBack(): Promise<void> {
    await this.#asking
    this.#over.push(...this.#open)
    this.#keep([])
    await this.#tellGiven()
  }

  async #tellGiven(): Promise<void> {
    const given = this.#given
    this.#given = new Map()
    try {
      await countGiven(this.#pool, this.#of, given)
    } catch (error) {
      for (const [minute, count] of given) this.#given.set(minute, (this.#given.get(minute) ?? 0) + count)
      throw error
    }
    const spent = this.#spent.map(({ id }) => id)
    await spendBatches(this.#pool, this.#of, spent)
    this.#spent = this.#spent.slice(spent.length)
    const rest = this.#over.map(batch => ({ id: batch.id, links: linksOf(batch.words).slice(0, batch.left) }))
    await releaseLinks(this.#pool, this.#of, rest)
    this.#over = this.#over.slice(rest.length)
  }

  #keep(open: Held[]): void {
    this.#open = open
    this.#left = open.reduce((sum, { left }) => sum + left, 0)
  }

  /** What has too little time left by now is given to nobody. */
  #pop(ms: number): BatchLink | undefined {
    for (let batch = this.#open.at(-1); batch !== undefined; batch = this.#open.at(-1)) {
      if (batch.expires_ms - ms < this.#life_ms) {
        this.#left -= batch.left
        this.#over.push(...this.#open.splice(-1))
        continue
      }
      batch.links ??= linksOf(batch.words)
      batch.left -= 1
      this.#left -= 1
      if (batch.left === 0) this.#spent.push(...this.#open.splice(-1))
      return batch.links[batch.left]
    }
    return undefined
  }

  async #takeMore(): Promise<void> {
    const wanted = Math.min(MOST, Math.max(LEAST, this.#wanted() - this.#left))
    const most = Math.ceil(wanted / this.#usual)
    try {
      const batches = await takeBatches(this.#pool, this.#of, { most, life_ms: this.#life_ms })
      this.#usual = batches.at(-1)?.size ?? BATCH
      const held = batches.map(batch => ({ ...batch, left: batch.size, links: undefined }))
      // Those of before are given first: the database hands out what ends first.
      this.#keep([...held.toSorted((a, b) => b.expires_ms - a.expires_ms), ...this.#open])
      if (batches.length < most) this.#rest()
    } catch {
      this.#rest()
    }
  }

  /** As many as were used in the last minute. */
  #wanted(): number {
    const since = Math.floor(Date.now() / SLOT_MS) - 10
    const used = this.#uses.reduce((sum, { slot, count }) => (slot > since ? sum + count : sum), 0)
    return Math.min(LARGEST, Math.max(LEAST, used))
  }
}
