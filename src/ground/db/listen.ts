// Listens to a NOTIFY channel on a connection of its own. Notifications are only a hint, because those sent while nobody listens are lost.
import type pg from 'pg'
import type { Database } from './connect.ts'

const AGAIN_MS = 500

type Callbacks = {
  onNotify: (payload: string) => void
  /** Called after a lost connection is replaced: notifications may have been missed. */
  onReconnect: () => void
}

type Listening = { close(): Promise<void> }

/**
 * Listens until it is closed, and reconnects as often as needed. It listens on each node of a cluster, because a notification stays on its node.
 * Resolves after the first attempt to listen, successful or not.
 */
export async function listen(database: Database, channel: string, callbacks: Callbacks): Promise<Listening> {
  const nodes = Array.from({ length: database.nodes }, (_, node) => node)
  const all = await Promise.all(nodes.map(node => listenOn(database, node, channel, callbacks)))
  return {
    async close() {
      await Promise.all(all.map(one => one.close()))
    },
  }
}

async function listenOn(
  database: Database,
  node: number,
  channel: string,
  { onNotify, onReconnect }: Callbacks,
): Promise<Listening> {
  let client: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  const later = () => {
    client = undefined
    if (isClosed) return
    clearTimeout(timer)
    timer = setTimeout(() => void connect(true), AGAIN_MS)
    timer.unref()
  }

  const connect = async (isAgain: boolean) => {
    const fresh = database.dedicated(node)
    client = fresh
    fresh.on('error', () => {})
    fresh.on('notification', ({ payload }) => onNotify(payload ?? ''))
    try {
      await fresh.connect()
      await fresh.query(`listen ${channel}`)
      fresh.once('end', later)
      if (isClosed) await fresh.end()
      else if (isAgain) onReconnect()
    } catch {
      // Not awaited, because it may never resolve if the database hangs.
      fresh.end().catch(() => {})
      later()
    }
  }

  await connect(false)
  return {
    async close() {
      isClosed = true
      clearTimeout(timer)
      await client?.end().catch(() => {})
    },
  }
}
