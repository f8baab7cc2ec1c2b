// The database a process works on: the nodes of DATABASE_URL, or the embedded server of DATA_DIR.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { StartError } from '../start-error.ts'
import type { Node } from './connect.ts'
import { startPostgres } from './embedded.ts'
import { isUnreachable } from './faults.ts'
import { migrate } from './migrate.ts'

/** Addresses for `connect`, the first of them for migrations; `close` stops the embedded server and nothing else. */
export type Nodes = { addresses: readonly Node[]; close(): Promise<void> }

/** A database that is started together with Sluice may come up a little later. */
const PATIENCE_MS = 15_000
/** The oldest major version of PostgreSQL whose SQL is spoken here. */
const OLDEST = 15

/**
 * Starts or finds the database. `alone: false` looks in beside the Sluice that may be running on an embedded one.
 * @throws StartError with the reason in one line, without the password.
 */
export async function openNodes(
  config: Pick<Config, 'databaseUrl' | 'dataDir'>,
  log: Logger,
  { alone = true }: { alone?: boolean } = {},
): Promise<Nodes> {
  if (config.databaseUrl.length > 0) return { addresses: config.databaseUrl, close: async () => {} }
  const embedded = await startPostgres({ dataDir: config.dataDir, log, alone })
  return { addresses: [embedded.connection], close: () => embedded.stop() }
}

/** Brings the database up to date by its first node and answers the names of the files applied. */
export async function migrateNodes({ addresses: [first = ''] }: Nodes): Promise<string[]> {
  const client = await reach(first)
  try {
    const { rows } = await client.query<{ version: number }>(
      `select current_setting('server_version_num')::int / 10000 as version`,
    )
    const version = rows[0]?.version ?? 0
    if (version < OLDEST) throw new StartError(`DATABASE_URL is PostgreSQL ${version}, Sluice needs ${OLDEST} or newer`)
    return await migrate(client)
  } finally {
    await client.end()
  }
}

/** One connection whose statements may take as long as they take: for commands that read everything. */
export function openPatientPool({ addresses: [first = ''] }: Nodes): pg.Pool {
  const own = { application_name: 'sluice reconcile', max: 1 }
  return new pg.Pool(typeof first === 'string' ? { ...own, connectionString: first } : { ...own, ...first })
}

async function reach(node: Node): Promise<pg.Client> {
  for (const deadline = Date.now() + PATIENCE_MS; ; ) {
    const own = { application_name: 'sluice migrate', connectionTimeoutMillis: 5000 }
    const client = new pg.Client(typeof node === 'string' ? { ...own, connectionString: node } : { ...own, ...node })
    // An error between two statements is met by the next one.
    client.on('error', () => {})
    try {
      await client.connect()
      return client
    } catch (error) {
      if (isUnreachable(error) && Date.now() < deadline) {
        await sleep(250)
        continue
      }
      const why =
        error instanceof AggregateError ? error.errors.join(', ') : error instanceof Error ? error.message : error
      throw new StartError(`the database of DATABASE_URL cannot be reached: ${String(why)}`)
    }
  }
}
