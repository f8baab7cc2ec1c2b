/**
 * The queue of every organization. A few lanes take what the organizations have gathered, those first that have waited longest, and
 * record it in one transaction; while one is written the next gathers, so a batch is as large as the load is. One organization is in one
 * lane at a time, and its items are recorded in the order they came. Owns `events`, `event_aliases`, `persons` and `person_keys`; writes
 * clicks, balances, ledger, report deltas and deliveries with them.
 *
 * What must stay true: everything is derived from primary keys, so a batch that may or may not have been committed is simply run again.
 */
import type { Outcome } from './decide.ts'
import type { Item } from './items.ts'
import { type Batch, type LaneTools, runBatch, type Waiting } from './run-batch.ts'

const LANES = 3
/** More, for organizations that wait for another process's lock and must not keep the others waiting. */
const MOST_LANES = 8
const BATCH = 500

/** Takes conversions in and has them recorded; each gets its outcome when its batch is committed. */
export class OrganizationQueues {
  readonly #tools: LaneTools
  readonly #mostOrganizations: () => number
  readonly #gathered = new Map<number, Waiting[]>()
  /** Organizations with something gathered and nothing in a lane, the longest waiting first. */
  readonly #ready = new Set<number>()
  /** Those of them whose lock another process held: they are taken alone and wait for it. */
  readonly #contended = new Set<number>()
  readonly #inLane = new Set<number>()
  #lanes = 0
  #isWoken = false

  /** `mostOrganizations` go into one transaction: a sharded database is to have them on one node. */
  constructor(tools: LaneTools, mostOrganizations: () => number) {
    this.#tools = tools
    this.#mostOrganizations = mostOrganizations
  }

  /** Puts an item into its organization's queue; resolves when it is committed, rejects when it was not recorded or may not be. */
  put(item: Item): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#gather(item.org_id).push({ item, resolve, reject })
      this.#queue(item.org_id)
      this.#wake()
    })
  }

  #gather(org_id: number): Waiting[] {
    const gathered = this.#gathered.get(org_id) ?? []
    this.#gathered.set(org_id, gathered)
    return gathered
  }

  #queue(org_id: number): void {
    if (!this.#inLane.has(org_id) && !this.#contended.has(org_id)) this.#ready.add(org_id)
  }

  /** On the next turn of the event loop, so that what arrives in one turn shares a transaction. */
  #wake(): void {
    if (this.#isWoken || !this.#wantsLane()) return
    this.#isWoken = true
    setImmediate(() => {
      this.#isWoken = false
      while (this.#wantsLane()) void this.#runLane()
    })
  }

  #wantsLane(): boolean {
    return (this.#ready.size > 0 && this.#lanes < LANES) || (this.#contended.size > 0 && this.#lanes < MOST_LANES)
  }

  async #runLane(): Promise<void> {
    this.#lanes += 1
    for (let taken = this.#take(); taken.length > 0; taken = this.#take()) {
      const batch = taken.flatMap(org_id => this.#takeGathered(org_id))
      this.#leave(taken, await runBatch(this.#tools, batch))
    }
    this.#lanes -= 1
  }

  /** The organizations of the next batch: one that must wait for its lock, or as many as make a full one. */
  #take(): number[] {
    const taken: number[] = []
    const [contended] = this.#contended
    if (contended !== undefined) taken.push(contended)
    let size = 0
    for (const org_id of contended === undefined ? this.#ready : []) {
      if (size >= BATCH || taken.length === this.#mostOrganizations()) break
      taken.push(org_id)
      size += this.#gathered.get(org_id)?.length ?? 0
    }
    for (const org_id of taken) {
      this.#contended.delete(org_id)
      this.#ready.delete(org_id)
      this.#inLane.add(org_id)
    }
    return taken
  }

  #takeGathered(org_id: number): Waiting[] {
    const gathered = this.#gather(org_id)
    const taken = gathered.splice(0, BATCH)
    if (gathered.length === 0) this.#gathered.delete(org_id)
    return taken
  }

  /** What could not be done because its lock was held goes back to the front. */
  #leave(taken: readonly number[], left: Batch): void {
    for (const org_id of taken) {
      this.#inLane.delete(org_id)
      const back = left.filter(({ item }) => item.org_id === org_id)
      if (back.length > 0) {
        this.#gather(org_id).unshift(...back)
        this.#contended.add(org_id)
      } else if (this.#gathered.has(org_id)) this.#ready.add(org_id)
    }
    this.#wake()
  }
}
