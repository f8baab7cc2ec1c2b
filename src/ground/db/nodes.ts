// The database a process works on: the nodes of DATABASE_URL, or the embedded server of DATA_DIR.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { StartError } from '../start-error.ts'
import type { Node } from './connect.ts'
import { isOnCitus } from './distribute.ts'
import { hasCluster, startPostgres } from './embedded.ts'
import { isUnreachable } from './faults.ts'
import { isMigrated, migrate, missingMigrations } from './migrate.ts'

/** Addresses for `connect`, the first of them for migrations; `close` stops the embedded server and nothing else. */
export type Nodes = { addresses: readonly Node[]; close(): Promise<void> }

/** A database that is started together with Sluice may come up a little later. */
const PATIENCE_MS = 15_000
/** The oldest major version of PostgreSQL whose SQL is spoken here. */
const OLDEST = 15

/**
 * Starts or finds the database. `alone: false` looks in beside the Sluice that may be running on an embedded one; `mayCreate: false` makes no
 * embedded one where there is none.
 * @throws StartError with the reason in one line, without the password.
 */
export async function openNodes(
  config: Pick<Config, 'databaseUrl' | 'dataDir'>,
  log: Logger,
  { alone = true, mayCreate = true }: { alone?: boolean; mayCreate?: boolean } = {},
): Promise<Nodes> {
  if (config.databaseUrl.length > 0) return { addresses: config.databaseUrl, close: async () => {} }
  if (!mayCreate && !hasCluster(config.dataDir)) throw noInstallation(`DATA_DIR ${config.dataDir} holds no database`)
  const embedded = await startPostgres({ dataDir: config.dataDir, log, alone })
  return { addresses: [embedded.connection], close: () => embedded.stop() }
}

/** What is expected is not there. Whoever starts it has moved the data, has not restored it yet, or wants a new installation. */
const noInstallation = (found: string) =>
  new StartError(
    `${found}, and NEW_INSTALLATION=refuse: put the data back or restore a backup. To begin a new installation run ` +
      '"node_modules/.bin/node src/main.ts migrate" with the settings and as the user of the service (docs/operating.md)',
  )

/**
 * Brings the database up to date by its first node and answers the names of the files applied. Where that one is away, any other can tell
 * that nothing is missing. `mayCreate: false` refuses a database that has never been one of Sluice's.
 */
export async function migrateNodes({ addresses }: Nodes, { mayCreate = true } = {}): Promise<string[]> {
  const [first = '', ...others] = addresses
  const isNeeded = others.length === 0 || (await isThere(first)) || !(await isAnyUpToDate(others))
  if (!isNeeded) return []
  const client = await reach(first)
  try {
    const { rows } = await client.query<{ version: number }>(
      `select current_setting('server_version_num')::int / 10000 as version`,
    )
    const version = rows[0]?.version ?? 0
    if (version < OLDEST) throw new StartError(`DATABASE_URL is PostgreSQL ${version}, Sluice needs ${OLDEST} or newer`)
    await checkPlace(client, others.length)
    if (!mayCreate && !(await isMigrated(client))) throw noInstallation('the database is empty')
    return await migrate(client)
  } finally {
    await client.end()
  }
}

/** @throws StartError where several addresses are not those of one cluster, or the first is not the node that changes the schema. */
async function checkPlace(client: pg.Client, others: number): Promise<void> {
  if (await isOnCitus(client)) {
    const { rows } = await client.query<{ place: number }>('select groupid as place from pg_dist_local_group')
    if (rows[0]?.place === 0) return
    throw new StartError(
      'the first address of DATABASE_URL is not the coordinator of the cluster, which alone changes the schema: name it first',
    )
  }
  if (others > 0)
    throw new StartError(
      'DATABASE_URL has several addresses, but its first is no cluster of Citus: name one server, or follow docs/scaling.md',
    )
}

async function isThere(node: Node): Promise<boolean> {
  return (await onceReached(node, async () => true)) === true
}

/** Whether one of these nodes is there and has had every migration. */
async function isAnyUpToDate(nodes: readonly Node[]): Promise<boolean> {
  for (const node of nodes) {
    const missing = await onceReached(node, missingMigrations)
    if (missing !== undefined) return missing.length === 0
  }
  return false
}

/** What `work` answers; undefined when the node cannot be reached at once. */
async function onceReached<T>(node: Node, work: (client: pg.Client) => Promise<T>): Promise<T | undefined> {
  const client = clientFor(node)
  try {
    await client.connect()
    return await work(client)
  } catch (error) {
    if (isUnreachable(error)) return undefined
    throw error
  } finally {
    await client.end().catch(() => {})
  }
}

/** One connection whose statements may take as long as they take: for commands that read everything. */
export function openPatientPool({ addresses: [first = ''] }: Nodes): pg.Pool {
  const own = { application_name: 'sluice reconcile', max: 1 }
  const pool = new pg.Pool(typeof first === 'string' ? { ...own, connectionString: first } : { ...own, ...first })
  // One that is idle when its server is stopped behind the command has nothing to say any more.
  pool.on('error', () => {})
  return pool
}

function clientFor(node: Node): pg.Client {
  const own = { application_name: 'sluice migrate', connectionTimeoutMillis: 5000 }
  const client = new pg.Client(typeof node === 'string' ? { ...own, connectionString: node } : { ...own, ...node })
  // An error between two statements is met by the next one.
  client.on('error', () => {})
  return client
}

async function reach(node: Node): Promise<pg.Client> {
  for (const deadline = Date.now() + PATIENCE_MS; ; ) {
    const client = clientFor(node)
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
