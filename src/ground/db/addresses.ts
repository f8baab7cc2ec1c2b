/**
 * The nodes that connections of this process go to: each to the one that has the fewest of them. One that could not be reached is left alone
 * for a while, longer each time, and whoever waits for a connection is given one to another node.
 */
import type pg from 'pg'
import { Gauge } from 'prom-client'
import { isUnreachable } from './faults.ts'

/** A node that is restarted is asked again soon; one that is gone costs those who ask it two seconds, so seldom. */
const FIRST_ALONE_MS = 1000
const LONGEST_ALONE_MS = 30_000

type Address = {
  readonly name: string
  readonly place: number
  connections: number
  failures: number
  alone_until: number
}

type Addresses = {
  /** The place of the node for the next connection. */
  choose(): number
  /** A connection to the node was begun, stands, could not be had, or is over. */
  begun(place: number): void
  stands(place: number): void
  failed(place: number, error: unknown): void
  over(place: number): void
  /** Shows their numbers no more. */
  close(): void
}

const opened = new Set<readonly Address[]>()

new Gauge({
  name: 'sluice_database_connections',
  help: 'Connections of this process to each node of the database',
  labelNames: ['node'],
  collect() {
    this.reset()
    for (const { name, connections } of [...opened].flat()) this.inc({ node: name }, connections)
  },
})

/** Opens the count for nodes of these names, such as `db1:5432`; `now` is the clock, Unix ms. */
export function openAddresses(names: readonly string[], now = Date.now): Addresses {
  const all = names.map((name, place): Address => ({ name, place, connections: 0, failures: 0, alone_until: 0 }))
  opened.add(all)
  let turn = Math.floor(Math.random() * all.length)
  const at = (place: number): Address => {
    const address = all[place]
    if (address === undefined) throw new Error(`there is no node ${place}`)
    return address
  }
  return {
    choose() {
      turn += 1
      const inTurn = all.map((_, i) => at((turn + i) % all.length))
      const asked = inTurn.filter(({ alone_until }) => alone_until <= now())
      // Where all are left alone, the one that has been for longest is asked: somebody waits.
      const among = asked.length > 0 ? asked : inTurn.toSorted((a, b) => a.alone_until - b.alone_until).slice(0, 1)
      const fewest = Math.min(...among.map(({ connections }) => connections))
      return among.find(({ connections }) => connections === fewest)?.place ?? 0
    },
    begun: place => void (at(place).connections += 1),
    stands: place => void Object.assign(at(place), { failures: 0, alone_until: 0 }),
    failed(place, error) {
      if (!isUnreachable(error)) return
      const address = at(place)
      if (address.alone_until > now()) return
      address.alone_until = now() + Math.min(FIRST_ALONE_MS * 2 ** address.failures, LONGEST_ALONE_MS)
      address.failures += 1
    },
    over: place => void (at(place).connections -= 1),
    close: () => void opened.delete(all),
  }
}

type Callback = (error?: Error) => void
type Connect = (callback: Callback) => void

/** A client class whose connections go where `addresses` says; a pool knows one address only. */
export function clientOf(
  nodes: readonly pg.ClientConfig[],
  addresses: Addresses,
  Base: typeof pg.Client,
): typeof pg.Client {
  return class extends Base {
    constructor(config?: string | pg.ClientConfig) {
      const place = addresses.choose()
      super({ ...(typeof config === 'object' ? config : {}), ...nodes[place] })
      const open = super.connect.bind(this) as Connect
      const connect = (callback: Callback) => {
        addresses.begun(place)
        this.once('end', () => addresses.over(place))
        open(error => {
          if (error) addresses.failed(place, error)
          else addresses.stands(place)
          callback(error)
        })
      }
      // Assigned, not overridden: the declared overloads cannot be met by one signature.
      Object.defineProperty(this, 'connect', {
        value: (callback?: Callback) => (callback === undefined ? promised(connect) : connect(callback)),
      })
    }
  }
}

const promised = (connect: Connect): Promise<void> =>
  new Promise((resolve, reject) => connect(error => (error ? reject(error) : resolve())))

type Given = (error: Error | undefined, client: pg.PoolClient | undefined, release: (error?: unknown) => void) => void

/** Has whoever asks the pool for a connection be given one to another node where one cannot be reached; nothing was sent yet. */
export function askOthers(pool: pg.Pool, tries: number): void {
  const once = pool.connect.bind(pool) as (given: Given) => void
  const connect = (given: Given, tried = 1): void =>
    once((error, client, release) => {
      if (error && tried < tries && isUnreachable(error) && !pool.ending) connect(given, tried + 1)
      else given(error, client, release)
    })
  Object.defineProperty(pool, 'connect', {
    value: (given?: Given) =>
      given === undefined
        ? new Promise((resolve, reject) => connect((error, client) => (error ? reject(error) : resolve(client))))
        : connect(given),
  })
}
