// Hears a channel of PostgreSQL's NOTIFY on a connection of its own. A hint, never the truth: what is said while nobody listens is lost.
import type pg from 'pg'
import type { Database } from './connect.ts'

const AGAIN_MS = 500

type Heard = {
  /** Something was said. */
  told: (payload: string) => void
  /** Listening anew after the connection was lost: anything may have been missed. */
  again: () => void
}

type Ear = { close(): Promise<void> }

/**
 * Listens until it is closed, connecting anew for as long as it takes; on each node of a cluster, because what is said on one is not heard on
 * the others. Resolves when it has listened, or failed to, once.
 */
export async function listen(database: Database, channel: string, heard: Heard): Promise<Ear> {
  const nodes = Array.from({ length: database.nodes }, (_, node) => node)
  const ears = await Promise.all(nodes.map(node => listenOn(database, node, channel, heard)))
  return {
    async close() {
      await Promise.all(ears.map(ear => ear.close()))
    },
  }
}

async function listenOn(database: Database, node: number, channel: string, { told, again }: Heard): Promise<Ear> {
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
    fresh.on('notification', ({ payload }) => told(payload ?? ''))
    try {
      await fresh.connect()
      await fresh.query(`listen ${channel}`)
      fresh.once('end', later)
      if (isClosed) await fresh.end()
      else if (isAgain) again()
    } catch {
      // Not awaited: the end of a connection to a database that hangs may never be heard.
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
