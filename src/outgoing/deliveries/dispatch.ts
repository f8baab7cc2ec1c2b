/** The loop of one lane: find due targets, share out call slots, claim deliveries, send them. */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import { isUnreachable } from '../../ground/db/faults.ts'
import { type NextDue, openQuiet, type Quiet } from '../../ground/db/quiet.ts'
import { type RoundWatch, watchRound } from '../../ground/round-watch.ts'
import { findPaused } from './breaker.ts'
import { claimDeliveries } from './claim.ts'
import { type Agents, deliver, type DeliveryTerms } from './deliver.ts'
import { type ClaimedDelivery } from './held.ts'
import type { Lane, DeliveryTarget } from './lane.ts'
import type { OutcomeWriter } from './outcomes.ts'
import { type CallSlots, shareSlots } from './share.ts'

const POLL_MS = 1000
/** The shortest gap between searches for due targets, however many notifications arrive. */
const SEARCH_MS = 100
/** The rest after a turn, as a multiple of its duration. */
const REST = 3
const MOST_REST_MS = 250
/** How long calls in progress may continue when the process is asked to end. The process itself has ten seconds. */
const CLOSING_MS = 7000

type Setup = {
  pool: pg.Pool
  log: Logger
  agents: Agents
  outcomes: OutcomeWriter
  slots: CallSlots
  terms: DeliveryTerms
  /** The most organizations per claiming transaction. */
  mostOrganizations: () => number
}

const nextDelivery =
  (kind: string): NextDue =>
  among =>
    `
  select min(run_at) as at from deliveries where kind = '${kind}' and state = 'pending' and run_at > now()${among('org_id')}
  union all
  select min(paused_until) from failing_targets where kind = '${kind}' and paused_until > now()${among('org_id')}`

/** A target and the number of call slots it got. */
type SlotShare = [target: DeliveryTarget, most: number]

/** Sends the deliveries of one lane until it is closed. Each turn claims as many as there are free call slots. */
export class Dispatch {
  readonly #lane: Lane
  readonly #setup: Setup
  readonly #calls = new Set<Promise<void>>()
  readonly #hurry = new AbortController()
  readonly #ran: Promise<void>
  readonly #watch: RoundWatch
  /** Organizations whose last claim failed and that still have due deliveries. */
  readonly #failing = new Set<number>()
  /** Whether the last search for targets failed. Until one succeeds, the lane does not count as healthy. */
  #isBlind = false
  /** Targets with due deliveries, the one served longest ago first. */
  #waiting = new Map<string, DeliveryTarget>()
  #isClosing = false
  #shallSearch = true
  #searched_at = Number.NEGATIVE_INFINITY
  #search_ms = 0
  #stir = Promise.withResolvers<void>()
  readonly #quiet: Quiet
  /** The version of the quiet before the last search. */
  #version = 0

  constructor(lane: Lane, setup: Setup) {
    this.#lane = lane
    this.#setup = setup
    this.#quiet = openQuiet(setup.pool, nextDelivery(lane.kind))
    this.#watch = watchRound(`deliveries/${lane.kind}`)
    this.#ran = this.#run()
  }

  /** Searches for due targets soon. */
  wake(): void {
    this.#shallSearch = true
    this.#stir.resolve()
  }

  /** Stops claiming and waits for calls in progress. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#stir.resolve()
    const timer = setTimeout(() => this.#hurry.abort(), this.#setup.terms.closing_ms ?? CLOSING_MS)
    await this.#ran
    await Promise.all(this.#calls)
    clearTimeout(timer)
    this.#quiet.close()
    this.#watch.close()
  }

  #failed(error: unknown, of: { org_id?: number | undefined } = {}): void {
    this.#watch.failed(error, () => this.#setup.log.error({ err: error, ...of }, 'could not claim deliveries'))
  }

  async #run(): Promise<void> {
    while (!this.#isClosing) {
      this.#stir = Promise.withResolvers()
      const hasClaimed = await this.#turn().catch(async (error: unknown) => {
        this.#failed(error)
        await sleep(POLL_MS)
        return false
      })
      if (!hasClaimed && !this.#isClosing) await this.#rest()
    }
  }

  async #rest(): Promise<void> {
    const pause = this.#searchGap() - (performance.now() - this.#searched_at)
    const stir = this.#stir
    const timer = setTimeout(() => void this.#unquiet().then(stir.resolve), Math.max(1, pause))
    await stir.promise
    clearTimeout(timer)
  }

  /** Resolves when a search may find more than the last one did. */
  async #unquiet(): Promise<void> {
    if (this.#isBlind || this.#failing.size > 0 || this.#waiting.size > 0) return
    await this.#quiet.since(this.#version)
  }

  /** Searches take at most a tenth of the time, also with very many targets. */
  #searchGap(): number {
    return Math.max(this.#shallSearch ? SEARCH_MS : POLL_MS, 10 * this.#search_ms)
  }

  async #turn(): Promise<boolean> {
    const begun = performance.now()
    if (begun - this.#searched_at >= this.#searchGap()) await this.#search()
    const shares = shareSlots(this.#waiting.values(), this.#setup.slots)
    const organizations = [...Map.groupBy(shares, ([{ org_id }]) => org_id).values()]
    await this.#claimAll(organizations, this.#setup.mostOrganizations())
    // Leaves the database to intake most of the time. Deliveries that become due meanwhile make the next claim larger.
    if (!this.#isBlind && this.#failing.size === 0) this.#watch.passed()
    if (shares.size > 0) await sleep(Math.min(REST * (performance.now() - begun), MOST_REST_MS))
    return shares.size > 0
  }

  async #claimAll(organizations: SlotShare[][], atOnce: number): Promise<void> {
    try {
      while (organizations.length > 0) await this.#claim(organizations.splice(0, atOnce))
    } finally {
      // After a failure, frees the slots of the organizations that were not reached.
      for (const [target, most] of organizations.flat()) this.#free(target, most)
    }
  }

  #free(target: DeliveryTarget, slots: number): void {
    for (let i = 0; i < slots; i += 1) this.#setup.slots.free(target)
  }

  async #search(): Promise<void> {
    this.#shallSearch = false
    this.#isBlind = true
    this.#searched_at = performance.now()
    this.#version = this.#quiet.version()
    const { pool } = this.#setup
    const [targets, paused] = await Promise.all([this.#lane.findTargets(pool), findPaused(pool, this.#lane.kind)])
    this.#search_ms = performance.now() - this.#searched_at
    this.#isBlind = false
    const asking = new Set(targets.map(({ org_id }) => org_id))
    for (const org_id of this.#failing) if (!asking.has(org_id)) this.#failing.delete(org_id)
    const due = targets.filter(({ target_id }) => !paused.has(target_id))
    const dueById = new Map(due.map(target => [target.target_id, target]))
    const inLine = new Map<string, DeliveryTarget>()
    // Targets already in the queue keep their position.
    for (const id of [...this.#waiting.keys(), ...dueById.keys()]) {
      const target = dueById.get(id)
      if (target !== undefined) inLine.set(id, target)
    }
    this.#waiting = inLine
  }

  /** Claims deliveries for these organizations, and frees the call slots that get no call. A failed claim of one organization does not affect the others. */
  async #claim(organizations: SlotShare[][]): Promise<void> {
    const { pool, terms } = this.#setup
    const shares = organizations.flat()
    const left = new Map(shares.map(([target, most]) => [target.target_id, { target, most }]))
    try {
      const claimed_at = performance.now()
      const wanted = shares.map(([{ org_id, target_id }, most]) => ({ org_id, target_id, most }))
      const { claimed, taken } = await claimDeliveries(pool, this.#lane, wanted, terms.lease_ms)
      // A target with fewer deliveries than slots has no more due; the others go to the end of the queue.
      for (const [target, most] of shares) {
        this.#failing.delete(target.org_id)
        this.#waiting.delete(target.target_id)
        if ((taken.get(target.target_id) ?? 0) >= most) this.#waiting.set(target.target_id, target)
      }
      for (const delivery of claimed) {
        const share = left.get(delivery.target_id)
        if (share === undefined) continue
        share.most -= 1
        this.#call(delivery, share.target, claimed_at)
      }
    } catch (error) {
      // On a cluster a connection error may concern one node only, so each organization is tried alone.
      if (isUnreachable(error) && this.#setup.mostOrganizations() > 1) throw error
      for (const [{ target_id }] of shares) this.#waiting.delete(target_id)
      if (organizations.length > 1) {
        left.clear()
        await this.#claimAll(organizations, 1)
      } else {
        const org_id = shares[0]?.[0].org_id
        if (org_id !== undefined) this.#failing.add(org_id)
        this.#failed(error, { org_id })
      }
    } finally {
      for (const { target, most } of left.values()) this.#free(target, most)
    }
  }

  #call(delivery: ClaimedDelivery, target: DeliveryTarget, claimed_at: number): void {
    const { agents, outcomes, slots, terms } = this.#setup
    const call = deliver(agents, delivery, claimed_at, this.#hurry.signal, terms)
      .then(done => {
        if (done === undefined) return
        outcomes.add(done)
        // About to be switched off: no further calls until the next search finds it again.
        if (done.isBroken) this.#waiting.delete(target.target_id)
        if (done.isCounted) slots.note(target, done.state === 'delivered' || done.failure === 'rejected')
      })
      .finally(() => {
        slots.free(target)
        this.#calls.delete(call)
        this.#stir.resolve()
      })
    this.#calls.add(call)
  }
}
