/**
 * Resends of what this process has recorded lately, answered without a transaction. What is remembered only says where to look first;
 * the answer is always read, and what is not found takes the common way.
 */
import type pg from 'pg'
import { Refusal } from '../../contract/refusals.ts'
import { ask, flight, type Question } from '../../ground/db/flight.ts'
import { isOutside } from '../../ground/scope.ts'
import type { Recorded } from './decide.ts'
import type { Conversion } from './items.ts'
import type { StoredEvent } from './known.ts'
import { READ_ALIASED, READ_EVENTS } from './reads.ts'

/** Some ten megabytes, and minutes of a busy installation: senders repeat themselves within seconds. */
const REMEMBERED = 50_000
const READS_AT_ONCE = 2
/** What waited longer takes the way on which its key is read again. */
const WAITED_MS = 1000

type Asking = { conversion: Conversion; resolve: (found: Recorded | Refusal | undefined) => void }

/** Looks resends up, several in a read; undefined means that the common way has to be taken. */
export class Replays {
  readonly #pool: pg.Pool
  readonly #recent = new Set<string>()
  #asking: Asking[] = []
  #reading = 0

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  /** Remembers that a request with this identity has been recorded. */
  remember(id: string): void {
    if (this.#recent.size === REMEMBERED) this.#recent.delete(this.#recent.values().next().value ?? '')
    this.#recent.add(id)
  }

  /** The stored event of a request that was recorded lately, or its refusal; undefined when it is to take the common way. */
  find(conversion: Conversion): Promise<Recorded | Refusal | undefined> | undefined {
    // Sluice's own report of a start binds its click to the bot, also when the start is known; a network's call may approve what is held.
    if (conversion.source === 'service' || conversion.standing !== undefined || !this.#recent.has(conversion.id))
      return undefined
    return new Promise(resolve => {
      this.#asking.push({ conversion, resolve })
      // On the next turn of the event loop, so that what arrives in one turn shares a read.
      if (this.#asking.length === 1) setImmediate(() => this.#readNext())
    })
  }

  #readNext(): void {
    if (this.#reading === READS_AT_ONCE || this.#asking.length === 0) return
    const asking = this.#asking
    this.#asking = []
    this.#reading += 1
    void this.#read(asking).finally(() => {
      this.#reading -= 1
      this.#readNext()
    })
  }

  async #read(asking: readonly Asking[]): Promise<void> {
    try {
      const client = await this.#pool.connect()
      const stored = await storedEvents(client, asking).finally(() => client.release())
      const now = performance.now()
      for (const { conversion, resolve } of asking) {
        const isStale = conversion.key !== undefined && now - conversion.key.read_at > WAITED_MS
        resolve(isStale ? undefined : replayed(conversion, stored.get(`${conversion.org_id} ${conversion.id}`)))
      }
    } catch {
      // The common way knows what to do without a database.
      for (const { resolve } of asking) resolve(undefined)
    }
  }
}

function replayed({ campaigns }: Conversion, event: StoredEvent | undefined): Recorded | Refusal | undefined {
  if (event === undefined) return undefined
  return isOutside(campaigns, event.campaign_id) ? new Refusal('campaign_scope_forbidden') : { event, replayed: true }
}

/** The events behind the requests, by organization and identity; each organization is asked for by itself, all in one flight. */
async function storedEvents(client: pg.PoolClient, asking: readonly Asking[]): Promise<Map<string, StoredEvent>> {
  const ids = new Map<string, string[]>()
  for (const { conversion } of asking) {
    for (const kind of conversion.type === 'bot_start' ? ['events', 'aliased'] : ['events']) {
      const name = `${kind} ${conversion.org_id}`
      ids.set(name, [...(ids.get(name) ?? []), conversion.id])
    }
  }
  const questions: Record<string, Question<StoredEvent & { asked?: string }>> = {}
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
