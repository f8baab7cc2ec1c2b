/**
 * Chooses the node of each new connection: the one with the fewest connections of this process. A node that could not be reached is avoided for a
 * while, longer each time, and a waiting caller gets a connection to another node.
 */
import type pg from 'pg'
import { Gauge } from 'prom-client'
import { isUnreachable } from './faults.ts'

/** A restarted node is tried again soon. A dead one is tried rarely, because each try costs its caller two seconds. */
const FIRST_AVOIDED_MS = 1000
const LONGEST_AVOIDED_MS = 30_000

type Address = {
  readonly name: string
  readonly index: number
  connections: number
  failures: number
  avoided_until: number
}

type Addresses = {
  /** The index of the node for the next connection. */
  choose(): number
  opening(index: number): void
  opened(index: number): void
  failed(index: number, error: unknown): void
  ended(index: number): void
  /** Removes the nodes from the metrics. */
  close(): void
}

const measured = new Set<readonly Address[]>()

new Gauge({
  name: 'sluice_database_connections',
  help: 'Connections of this process to each node of the database',
  labelNames: ['node'],
  collect() {
    this.reset()
    for (const { name, connections } of [...measured].flat()) this.inc({ node: name }, connections)
  },
})

/** Opens the count for nodes of these names, such as `db1:5432`; `now` is the clock, Unix ms. */
export function openAddresses(names: readonly string[], now = Date.now): Addresses {
  const all = names.map((name, index): Address => ({ name, index, connections: 0, failures: 0, avoided_until: 0 }))
  measured.add(all)
  let turn = Math.floor(Math.random() * all.length)
  const at = (index: number): Address => {
    const address = all[index]
    if (address === undefined) throw new Error(`there is no node ${index}`)
    return address
  }
  return {
    choose() {
      turn += 1
      const inTurn = all.map((_, i) => at((turn + i) % all.length))
      const reachable = inTurn.filter(({ avoided_until }) => avoided_until <= now())
      // If all are avoided, the one to be avoided least long is tried, because a caller waits.
      const among =
        reachable.length > 0 ? reachable : inTurn.toSorted((a, b) => a.avoided_until - b.avoided_until).slice(0, 1)
      const fewest = Math.min(...among.map(({ connections }) => connections))
      return among.find(({ connections }) => connections === fewest)?.index ?? 0
    },
    opening: index => void (at(index).connections += 1),
    opened: index => void Object.assign(at(index), { failures: 0, avoided_until: 0 }),
    failed(index, error) {
      if (!isUnreachable(error)) return
      const address = at(index)
      if (address.avoided_until > now()) return
      address.avoided_until = now() + Math.min(FIRST_AVOIDED_MS * 2 ** address.failures, LONGEST_AVOIDED_MS)
      address.failures += 1
    },
    ended: index => void (at(index).connections -= 1),
    close: () => void measured.delete(all),
  }
}

type Callback = (error?: Error) => void
type Connect = (callback: Callback) => void

/** A client class whose connections go to the nodes that `addresses` chooses, because a pool itself has only one address. */
export function clientOf(
  nodes: readonly pg.ClientConfig[],
  addresses: Addresses,
  Base: typeof pg.Client,
): typeof pg.Client {
  return class extends Base {
    constructor(config?: string | pg.ClientConfig) {
      const index = addresses.choose()
      super({ ...(typeof config === 'object' ? config : {}), ...nodes[index] })
      const open = super.connect.bind(this) as Connect
      const connect = (callback: Callback) => {
        addresses.opening(index)
        this.once('end', () => addresses.ended(index))
        open(error => {
          if (error) addresses.failed(index, error)
          else addresses.opened(index)
          callback(error)
        })
      }
      // Assigned, because an override with one signature cannot satisfy the declared overloads.
      Object.defineProperty(this, 'connect', {
        value: (callback?: Callback) => (callback === undefined ? promised(connect) : connect(callback)),
      })
    }
  }
}

const promised = (connect: Connect): Promise<void> =>
  new Promise((resolve, reject) => connect(error => (error ? reject(error) : resolve())))

type Given = (error: Error | undefined, client: pg.PoolClient | undefined, release: (error?: unknown) => void) => void

/** Makes the pool try another node if one cannot be reached. This is safe, because nothing was sent yet. */
export function retryOnOtherNodes(pool: pg.Pool, tries: number): void {
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
