/**
 * Answers resends of conversions that this process recorded lately, without a transaction. Only their ids are cached: the answer is always read from
 * the database, and a conversion that is not found there goes through the queue.
 */
import type pg from 'pg'
import { Refusal } from '../../contract/refusals.ts'
import { ask, flight, type FlightStatement } from '../../ground/db/flight.ts'
import { isOutside } from '../../ground/scope.ts'
import type { Recorded } from './decide.ts'
import type { Conversion } from './items.ts'
import type { StoredEvent } from './organization-state.ts'
import { READ_ALIASED, READ_EVENTS } from './reads.ts'

/** About ten megabytes, and minutes of a busy installation: senders retry within seconds. */
const REMEMBERED = 50_000
const READS_AT_ONCE = 2
/** A conversion that waited longer goes through the queue, which reads its key again. */
const WAITED_MS = 1000

type ReplayLookup = { conversion: Conversion; resolve: (found: Recorded | Refusal | undefined) => void }

/** Looks up resends, several in one read; undefined means that the conversion must go through the queue. */
export class Replays {
  readonly #pool: pg.Pool
  readonly #recent = new Set<string>()
  #lookups: ReplayLookup[] = []
  #reading = 0

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  /** Notes that a request with this identity has been recorded. */
  remember(id: string): void {
    if (this.#recent.size === REMEMBERED) this.#recent.delete(this.#recent.values().next().value ?? '')
    this.#recent.add(id)
  }

  /** The stored event of a request that was recorded lately, or its refusal; undefined if it must go through the queue. */
  find(conversion: Conversion): Promise<Recorded | Refusal | undefined> | undefined {
    // Sluice's own report of a known start still binds its click to the bot, and a network's call may approve a held conversion.
    if (
      conversion.source === 'service' ||
      conversion.source === 'browser' ||
      conversion.standing !== undefined ||
      !this.#recent.has(conversion.id)
    )
      return undefined
    return new Promise(resolve => {
      this.#lookups.push({ conversion, resolve })
      // On the next turn of the event loop, so that requests of one turn share a read.
      if (this.#lookups.length === 1) setImmediate(() => this.#readNext())
    })
  }

  #readNext(): void {
    if (this.#reading === READS_AT_ONCE || this.#lookups.length === 0) return
    const lookups = this.#lookups
    this.#lookups = []
    this.#reading += 1
    void this.#read(lookups).finally(() => {
      this.#reading -= 1
      this.#readNext()
    })
  }

  async #read(lookups: readonly ReplayLookup[]): Promise<void> {
    try {
      const client = await this.#pool.connect()
      const stored = await storedEvents(client, lookups).finally(() => client.release())
      const now = performance.now()
      for (const { conversion, resolve } of lookups) {
        const isStale = conversion.key !== undefined && now - conversion.key.read_at > WAITED_MS
        resolve(isStale ? undefined : replayed(conversion, stored.get(`${conversion.org_id} ${conversion.id}`)))
      }
    } catch {
      // The queue handles a missing database.
      for (const { resolve } of lookups) resolve(undefined)
    }
  }
}

function replayed({ campaigns }: Conversion, event: StoredEvent | undefined): Recorded | Refusal | undefined {
  if (event === undefined) return undefined
  return isOutside(campaigns, event.campaign_id) ? new Refusal('campaign_scope_forbidden') : { event, replayed: true }
}

/** The stored events by organization and request identity, read with one statement per organization in one round trip. */
async function storedEvents(
  client: pg.PoolClient,
  lookups: readonly ReplayLookup[],
): Promise<Map<string, StoredEvent>> {
  const ids = new Map<string, string[]>()
  for (const { conversion } of lookups) {
    for (const kind of conversion.type === 'bot_start' ? ['events', 'aliased'] : ['events']) {
      const name = `${kind} ${conversion.org_id}`
      ids.set(name, [...(ids.get(name) ?? []), conversion.id])
    }
  }
  const questions: Record<string, FlightStatement<StoredEvent & { asked?: string }>> = {}
  for (const [name, list] of ids) {
    const [kind, org_id] = name.split(' ')
    questions[name] = ask(kind === 'events' ? READ_EVENTS.one : READ_ALIASED.one, [Number(org_id), list])
  }
  const answers = await flight(client, questions)
  return new Map(
    Object.entries(answers).flatMap(([name, events]) =>
      events.map(({ asked, ...event }) => [`${name.split(' ')[1]} ${asked ?? event.id}`, event] as const),
    ),
  )
}
