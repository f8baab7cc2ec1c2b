/** The loop of one lane: who has something due, whose turn it is, claim, call. */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import { isUnreachable } from '../../ground/db/faults.ts'
import { type RoundWatch, watchRound } from '../../ground/round-watch.ts'
import { findPaused } from './breaker.ts'
import { claimDue } from './claim.ts'
import { type Agents, deliver, type Terms } from './deliver.ts'
import { type Claimed } from './held.ts'
import type { Lane, Target } from './lane.ts'
import type { Outcomes } from './outcomes.ts'
import { type Places, shareOut } from './share.ts'

const POLL_MS = 1000
/** Under a stream of notifications the targets are looked for at most this often. */
const SEARCH_MS = 100
/** How often as long as a turn took the next one is waited for. */
const REST = 3
const MOST_REST_MS = 250
/** How long calls in hand may go on when the process is asked to end, which is given ten seconds itself. */
const CLOSING_MS = 7000

type Setup = {
  pool: pg.Pool
  log: Logger
  agents: Agents
  outcomes: Outcomes
  places: Places
  terms: Terms
  /** So many organizations are claimed for in one transaction. */
  mostOrganizations: () => number
}

/** So many places of a target. */
type Share = [target: Target, most: number]

/** One lane at work until it is closed. What it claims in a turn is what there are places for. */
export class Dispatch {
  readonly #lane: Lane
  readonly #setup: Setup
  readonly #calls = new Set<Promise<void>>()
  readonly #hurry = new AbortController()
  readonly #ran: Promise<void>
  readonly #watch: RoundWatch
  /** Organizations whose last claim failed, while something of theirs is due. */
  readonly #failing = new Set<number>()
  /** Whether the last search for targets failed: until one succeeds nothing is known to go well. */
  #isBlind = false
  /** Targets with something due, the one served longest ago first. */
  #waiting = new Map<string, Target>()
  #isClosing = false
  #shallSearch = true
  #searched_at = Number.NEGATIVE_INFINITY
  #search_ms = 0
  #stir = Promise.withResolvers<void>()

  constructor(lane: Lane, setup: Setup) {
    this.#lane = lane
    this.#setup = setup
    this.#watch = watchRound(`deliveries/${lane.kind}`)
    this.#ran = this.#run()
  }

  /** There may be something new. */
  wake(): void {
    this.#shallSearch = true
    this.#stir.resolve()
  }

  /** Claims nothing new and ends what is in hand. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#stir.resolve()
    const timer = setTimeout(() => this.#hurry.abort(), this.#setup.terms.closing_ms ?? CLOSING_MS)
    await this.#ran
    await Promise.all(this.#calls)
    clearTimeout(timer)
    this.#watch.close()
  }

  #failed(error: unknown, of: { org_id?: number | undefined } = {}): void {
    this.#watch.failed(error, () => this.#setup.log.error({ err: error, ...of }, 'deliveries could not be claimed'))
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
    const timer = setTimeout(() => this.wake(), Math.max(1, pause))
    await this.#stir.promise
    clearTimeout(timer)
  }

  /** With very many targets a search takes its time, of which it is to have a tenth at most. */
  #searchGap(): number {
    return Math.max(this.#shallSearch ? SEARCH_MS : POLL_MS, 10 * this.#search_ms)
  }

  async #turn(): Promise<boolean> {
    const begun = performance.now()
    if (begun - this.#searched_at >= this.#searchGap()) await this.#search()
    const shares = shareOut(this.#waiting.values(), this.#setup.places)
    const organizations = [...Map.groupBy(shares, ([{ org_id }]) => org_id).values()]
    await this.#claimAll(organizations, this.#setup.mostOrganizations())
    // A busy database is left to intake most of the time; what becomes due meanwhile makes the next claims larger.
    if (!this.#isBlind && this.#failing.size === 0) this.#watch.passed()
    if (shares.size > 0) await sleep(Math.min(REST * (performance.now() - begun), MOST_REST_MS))
    return shares.size > 0
  }

  async #claimAll(organizations: Share[][], atOnce: number): Promise<void> {
    try {
      while (organizations.length > 0) await this.#claim(organizations.splice(0, atOnce))
    } finally {
      // Those that a failure kept from their turn.
      for (const [target, most] of organizations.flat()) this.#free(target, most)
    }
  }

  #free(target: Target, places: number): void {
    for (let i = 0; i < places; i += 1) this.#setup.places.free(target)
  }

  async #search(): Promise<void> {
    this.#shallSearch = false
    this.#isBlind = true
    this.#searched_at = performance.now()
    const { pool } = this.#setup
    const [targets, paused] = await Promise.all([this.#lane.findTargets(pool), findPaused(pool, this.#lane.kind)])
    this.#search_ms = performance.now() - this.#searched_at
    this.#isBlind = false
    const asking = new Set(targets.map(({ org_id }) => org_id))
    for (const org_id of this.#failing) if (!asking.has(org_id)) this.#failing.delete(org_id)
    const due = targets.filter(({ target_id }) => !paused.has(target_id))
    const found = new Map(due.map(target => [target.target_id, target]))
    const inLine = new Map<string, Target>()
    // Those already in line keep their place in it.
    for (const id of [...this.#waiting.keys(), ...found.keys()]) {
      const target = found.get(id)
      if (target !== undefined) inLine.set(id, target)
    }
    this.#waiting = inLine
  }

  /** Frees the places that get no call. An organization whose claim fails costs the others nothing, and is looked for again. */
  async #claim(organizations: Share[][]): Promise<void> {
    const { pool, terms } = this.#setup
    const shares = organizations.flat()
    const left = new Map(shares.map(([target, most]) => [target.target_id, { target, most }]))
    try {
      const claimed_at = performance.now()
      const wanted = shares.map(([{ org_id, target_id }, most]) => ({ org_id, target_id, most }))
      const { claimed, taken } = await claimDue(pool, this.#lane, wanted, terms.lease_ms)
      // Who gave less than was asked has nothing more for now; the others go to the end of the line.
      for (const [target, most] of shares) {
        this.#failing.delete(target.org_id)
        this.#waiting.delete(target.target_id)
        if ((taken.get(target.target_id) ?? 0) >= most) this.#waiting.set(target.target_id, target)
      }
      for (const one of claimed) {
        const share = left.get(one.target_id)
        if (share === undefined) continue
        share.most -= 1
        this.#call(one, share.target, claimed_at)
      }
    } catch (error) {
      // On a cluster it is one node's organizations that cannot be reached, and the others have their turn.
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

  #call(one: Claimed, target: Target, claimed_at: number): void {
    const { agents, outcomes, places, terms } = this.#setup
    const call = deliver(agents, one, claimed_at, this.#hurry.signal, terms)
      .then(done => {
        if (done === undefined) return
        outcomes.add(done)
        // It is about to be switched off, and no more for it is to go out until it is looked for again.
        if (done.isBroken) this.#waiting.delete(target.target_id)
        if (done.isCounted) places.note(target, done.state === 'delivered' || done.failure === 'rejected')
      })
      .finally(() => {
        places.free(target)
        this.#calls.delete(call)
        this.#stir.resolve()
      })
    this.#calls.add(call)
  }
}
