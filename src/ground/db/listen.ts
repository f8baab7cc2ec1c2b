// Listens to NOTIFY channels, all of a process on one connection per node. Notifications are only a hint, because those sent while nobody
// listens are lost.
import type pg from 'pg'
import type { Database } from './connect.ts'

const AGAIN_MS = 500

type Callbacks = {
  onNotify: (payload: string) => void
  /** Called after a lost connection is replaced: notifications may have been missed. */
  onReconnect: () => void
}

type Listening = { close(): Promise<void> }
type Listener = Callbacks & { channel: string }

/** The connection to one node. It is open while it has listeners. */
type ListeningConnection = { add(listener: Listener): Promise<void>; remove(listener: Listener): Promise<void> }

const opened = new WeakMap<Database, readonly ListeningConnection[]>()

/**
 * Listens until it is closed, and reconnects as often as needed. It listens on each node of a cluster, because a notification stays on its node.
 * Resolves after the first attempt to listen, successful or not.
 */
export async function listen(database: Database, channel: string, callbacks: Callbacks): Promise<Listening> {
  const nodes = Array.from({ length: database.nodes }, (_, node) => node)
  const connections = opened.get(database) ?? nodes.map(node => openConnection(() => database.dedicated(node)))
  opened.set(database, connections)
  const listener = { ...callbacks, channel }
  await Promise.all(connections.map(connection => connection.add(listener)))
  return {
    async close() {
      await Promise.all(connections.map(connection => connection.remove(listener)))
    },
  }
}

function openConnection(newClient: () => pg.Client): ListeningConnection {
  const listeners = new Set<Listener>()
  /** Undefined while there are no listeners, and between a lost connection and the next. */
  let client: pg.Client | undefined
  /** Resolves when the last statement has ended, because a connection takes one at a time. Undefined while there are no listeners. */
  let ready: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  const reconnectAfter = (lost: pg.Client) => {
    if (client !== lost) return
    client = undefined
    timer = setTimeout(() => {
      ready = ready?.then(reconnect)
    }, AGAIN_MS).unref()
  }

  const connect = async (prepare?: (fresh: pg.Client) => Promise<void>) => {
    const fresh = newClient()
    client = fresh
    fresh.on('error', () => {})
    fresh.on('notification', ({ channel, payload = '' }) => {
      for (const listener of listeners) if (listener.channel === channel) listener.onNotify(payload)
    })
    try {
      await fresh.connect()
      await prepare?.(fresh)
      fresh.once('end', () => reconnectAfter(fresh))
      if (client !== fresh) await fresh.end()
    } catch {
      // Not awaited, because it may never resolve if the database hangs.
      fresh.end().catch(() => {})
      reconnectAfter(fresh)
    }
  }

  const reconnect = async () => {
    if (client !== undefined || listeners.size === 0) return
    await connect(async fresh => {
      for (const channel of new Set(Array.from(listeners, listener => listener.channel)))
        await fresh.query(`listen ${channel}`)
      for (const listener of listeners) listener.onReconnect()
    })
  }

  return {
    async add(listener) {
      listeners.add(listener)
      // A statement fails only with its connection. The next connection listens to all channels.
      ready = (ready ?? connect())
        .then(async () => void (await client?.query(`listen ${listener.channel}`)))
        .catch(() => {})
      await ready
    },
    async remove(listener) {
      listeners.delete(listener)
      if (listeners.size > 0) return
      clearTimeout(timer)
      const last = client
      client = undefined
      ready = undefined
      await last?.end().catch(() => {})
    },
  }
}
