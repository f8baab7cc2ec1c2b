/**
 * The links of one channel that this process may give away. It takes them ahead of visitors, so that none of them waits for Telegram, and hardly
 * one for the database. What a process holds when it is killed is given to nobody any more.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { LiveChannel } from '../campaigns/live.ts'
import { lifeNeeded } from './invite-links.ts'
import { giveBackRest, giveBackWhole, renewBatches, spendBatches, type StockLink, takeLinks } from './leases.ts'

/** However quiet it is, so that the first visitors of a busy hour find some. */
const LEAST = 8
/** Of one question: reading more at once would keep visitors waiting. */
const MOST = 256
/** However busy it is: so many a process that is killed may cost. */
const LARGEST = 1024
/** More are asked for before this part of them is left. */
const ENOUGH = 0.75
/** What is used is remembered by tenths of this. */
const MINUTE_MS = 60_000
const SLOT_MS = MINUTE_MS / 10
/** While there are no links, or nobody who says so, it is asked so often. */
const AGAIN_MS = 1000
const RENEW_MS = 10 * MINUTE_MS
/** What nobody has come for goes back, unless a campaign leads there. */
const IDLE_MS = 10 * MINUTE_MS

export class Stock {
  readonly channel: LiveChannel
  readonly #pool: pg.Pool
  readonly #of: { org_id: number; channel_id: string; by: string }
  readonly #life_ms: number
  /** The last one is given first; it ends first. */
  #links: StockLink[] = []
  /** Of the batches that are held: how many links they had, and how many of them nobody has. */
  #batches = new Map<string, { size: number; left: number }>()
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
  take(ms: number): StockLink | undefined {
    const link = this.#pop(ms)
    this.fill()
    return link
  }

  /** Asks for more where it has run down. */
  fill(): void {
    if (this.#links.length <= this.#wanted() * ENOUGH) void this.ask()
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

  /** Says which batches are used up, renews what is held, and gives back what nobody comes for. */
  async tell(isLedTo: boolean): Promise<void> {
    await this.#tellSpent()
    if (this.#links.length > 0 && !isLedTo && performance.now() - this.#used_at > IDLE_MS) await this.giveBack()
    if (performance.now() - this.#renewed_at < RENEW_MS) return
    this.#renewed_at = performance.now()
    const ids = [...this.#batches.keys()]
    if (ids.length === 0) return
    const own = await renewBatches(this.#pool, this.#of, ids)
    const lost = new Set(ids.filter(id => !own.has(id)))
    for (const id of lost) this.#batches.delete(id)
    this.#links = this.#links.filter(({ batch_id }) => !lost.has(batch_id))
  }

  /** @throws what the database throws; what it has not taken back is given to nobody. */
  async giveBack(): Promise<void> {
    await this.#asking
    await this.#tellSpent()
    const [links, batches] = [Map.groupBy(this.#links, ({ batch_id }) => batch_id), this.#batches]
    this.#links = []
    this.#batches = new Map()
    const isWhole = (id: string) => batches.get(id)?.size === links.get(id)?.length
    const [whole, parts] = [[...links.keys()].filter(isWhole), [...links.keys()].filter(id => !isWhole(id))]
    await giveBackWhole(this.#pool, this.#of, whole)
    for (const id of parts) await giveBackRest(this.#pool, this.#of, id, links.get(id)?.map(link => link.id) ?? [])
  }

  async #tellSpent(): Promise<void> {
    const spent = [...this.#batches].filter(([, { left }]) => left === 0).map(([id]) => id)
    await spendBatches(this.#pool, this.#of, spent)
    for (const id of spent) this.#batches.delete(id)
  }

  /** What has too little time left by now is given to nobody. */
  #pop(ms: number): StockLink | undefined {
    for (let link = this.#links.pop(); link !== undefined; link = this.#links.pop()) {
      const batch = this.#batches.get(link.batch_id)
      if (batch !== undefined) batch.left -= 1
      if (link.expires_ms - ms >= this.#life_ms) return link
    }
    return undefined
  }

  async #takeMore(): Promise<void> {
    const wanted = Math.min(MOST, Math.max(LEAST, this.#wanted() - this.#links.length))
    try {
      const { links, isAll } = await takeLinks(this.#pool, this.#of, { count: wanted, life_ms: this.#life_ms })
      for (const [id, { length }] of Map.groupBy(links, ({ batch_id }) => batch_id))
        this.#batches.set(id, { size: length, left: length })
      // Those of before are given first: the database hands out what ends first.
      this.#links = [...links.toSorted((a, b) => b.expires_ms - a.expires_ms), ...this.#links]
      if (isAll) this.#rest()
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
