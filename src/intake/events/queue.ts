/**
 * One queue per organization. A few lanes take the waiting items of organizations, longest waiting first, and record them in one transaction. While
 * a batch is written the next one gathers, so batches grow with the load. An organization is in one lane at a time, and its items are
 * recorded in the order of arrival. Owns `events`, `event_aliases`, `persons` and `person_keys`; writes clicks, balances, ledger, report deltas and
 * deliveries with them.
 *
 * What must stay true: every row's key is derived from its request, so a batch whose commit is unknown is simply run again.
 */
import type { Outcome } from './decide.ts'
import type { Item } from './items.ts'
import { type Batch, type LaneTools, runBatch, type WaitingItem } from './run-batch.ts'

const LANES = 3
/** Extra lanes are for organizations that wait for another process's lock, so that they block no others. */
const MOST_LANES = 8
const BATCH = 500

/** Queues items and records them; each gets its outcome when its batch is committed. */
export class OrganizationQueues {
  readonly #tools: LaneTools
  readonly #mostOrganizations: () => number
  readonly #gathered = new Map<number, WaitingItem[]>()
  /** Organizations with waiting items and none in a lane, longest waiting first. */
  readonly #ready = new Set<number>()
  /** Organizations whose lock another process held: each gets a lane of its own and waits for the lock. */
  readonly #contended = new Set<number>()
  readonly #inLane = new Set<number>()
  #lanes = 0
  #isWoken = false

  /** `mostOrganizations` is how many may share a transaction; on a sharded database, one, so that it stays on one node. */
  constructor(tools: LaneTools, mostOrganizations: () => number) {
    this.#tools = tools
    this.#mostOrganizations = mostOrganizations
  }

  /** Queues an item; resolves with its outcome after the commit, rejects if it was not recorded or that is unknown. */
  put(item: Item): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#gather(item.org_id).push({ item, resolve, reject })
      this.#queue(item.org_id)
      this.#wake()
    })
  }

  #gather(org_id: number): WaitingItem[] {
    const gathered = this.#gathered.get(org_id) ?? []
    this.#gathered.set(org_id, gathered)
    return gathered
  }

  #queue(org_id: number): void {
    if (!this.#inLane.has(org_id) && !this.#contended.has(org_id)) this.#ready.add(org_id)
  }

  /** Starts lanes on the next turn of the event loop, so that items of one turn share a transaction. */
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

  /** The organizations of the next batch: one that must wait for its lock, or as many as fill a batch. */
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

  #takeGathered(org_id: number): WaitingItem[] {
    const gathered = this.#gather(org_id)
    const taken = gathered.splice(0, BATCH)
    if (gathered.length === 0) this.#gathered.delete(org_id)
    return taken
  }

  /** Items whose organization was locked go back to the front of its queue. */
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
