/**
 * The stock of one channel: links that this process leases ahead of visitors, so that no visitor waits for Telegram, and hardly any for the
 * database. If the process is killed, no click gets the links that it holds.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { LiveChannel } from '../campaigns/live.ts'
import { MINUTE_MS } from '../../contract/days.ts'
import { lifeNeeded } from './invite-links.ts'
import { countGiven, releaseLinks, type LinkBatch, renewBatches, spendBatches, takeBatches } from './leases.ts'
import { BATCH } from './making.ts'
import { type BatchLink, linksOf } from './words.ts'

/** The smallest stock, so that the first visitors of a busy hour find links. */
const LEAST = 8
/** The most links leased at once. Reading more would keep visitors waiting. */
const MOST = 256
/** The largest stock, because these links are lost if the process is killed. */
const LARGEST = 1024
/** More links are leased once the stock has fallen to this share of the wanted size. */
const ENOUGH = 0.75
/** Visitors are counted by tenths of a minute. */
const SLOT_MS = MINUTE_MS / 10
/** The pause after the database had too few links or did not answer. */
const AGAIN_MS = 1000
const RENEW_MS = 10 * MINUTE_MS
/** A stock without visitors for this long is returned, unless a campaign leads directly into the channel. */
const IDLE_MS = 10 * MINUTE_MS

/** A leased batch. Its `links` are parsed when the first one is given; the first `left` of them are still free. */
type Held = LinkBatch & { left: number; links: readonly BatchLink[] | undefined }

export class Stock {
  readonly channel: LiveChannel
  readonly #pool: pg.Pool
  readonly #of: { org_id: number; channel_id: string; by: string }
  readonly #life_ms: number
  /** The batches with free links. Links are taken from the last batch, which expires first. */
  #open: Held[] = []
  /** Batches that the database does not know of yet: `#spent` have no links left, `#over` are to be returned. */
  #spent: Held[] = []
  #over: Held[] = []
  /** Links given, by minute, since the database was last told. */
  #given = new Map<number, number>()
  /** The usual number of links in a batch, taken from the batch leased last. */
  #usual = BATCH
  /** The free links of all open batches. */
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

  /** Whether the links still fit the channel: its chat, join mode and link lifetime are unchanged. */
  isFor({ chat_id, join_mode, link_days }: LiveChannel): boolean {
    const { channel } = this
    return chat_id === channel.chat_id && join_mode === channel.join_mode && link_days === channel.link_days
  }

  /** Counts a visitor. The stock is kept as large as the number of visitors in the last minute. */
  note(ms: number): void {
    this.#used_at = performance.now()
    const slot = Math.floor(ms / SLOT_MS)
    const last = this.#uses.at(-1)
    if (last?.slot === slot) last.count += 1
    else this.#uses = [...this.#uses.slice(-9), { slot, count: 1 }]
  }

  /** Takes a link that no click has; undefined if there is none. */
  take(ms: number): BatchLink | undefined {
    const link = this.#pop(ms)
    const minute = Math.floor(ms / MINUTE_MS)
    if (link !== undefined) this.#given.set(minute, (this.#given.get(minute) ?? 0) + 1)
    this.fill()
    return link
  }

  /** Leases more links if the stock is low. */
  fill(): void {
    if (this.#left <= this.#wanted() * ENOUGH) void this.ask()
  }

  /** Whether waiting for links may help: the database has not just had too few, failed or timed out. */
  isHopeful(): boolean {
    return performance.now() >= this.#ask_after
  }

  /** Leases more links, one request at a time. Never rejects. */
  ask(): Promise<void> {
    if (performance.now() < this.#ask_after) return Promise.resolve()
    this.#asking ??= this.#takeMore().finally(() => (this.#asking = undefined))
    return this.#asking
  }

  /** The same for a waiting visitor, for at most `patience_ms`. A database that does not answer in time is left alone for a moment. */
  async askFor(patience_ms: number): Promise<void> {
    const answered = this.ask().then(() => true)
    const isAnswered = await Promise.race([answered, sleep(patience_ms, false, { ref: false })])
    if (!isAnswered) this.#rest()
  }

  #rest(): void {
    this.#ask_after = performance.now() + AGAIN_MS
  }

  /** Reports given links and used-up batches, renews the leases, and returns a stock that has no visitors. */
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

  /** Returns all links. @throws database errors; links that could not be returned are not given out either, and the next report returns them. */
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

  /** Puts aside batches that expire too soon. */
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
      // Earlier batches stay last and are used first, because the database leases those first that expire first.
      this.#keep([...held.toSorted((a, b) => b.expires_ms - a.expires_ms), ...this.#open])
      if (batches.length < most) this.#rest()
    } catch {
      this.#rest()
    }
  }

  /** The wanted size: the number of visitors in the last minute, within the limits. */
  #wanted(): number {
    const since = Math.floor(Date.now() / SLOT_MS) - 10
    const used = this.#uses.reduce((sum, { slot, count }) => (slot > since ? sum + count : sum), 0)
    return Math.min(LARGEST, Math.max(LEAST, used))
  }
}
