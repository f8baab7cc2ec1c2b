// The database of a process: the nodes of DATABASE_URL, or the embedded server of DATA_DIR.
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
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

/** The addresses for `connect`; migrations run on the first. `close` stops the embedded server, if there is one. */
export type Nodes = { addresses: readonly Node[]; close(): Promise<void> }

type HowToOpen = { alone?: boolean; mayCreate?: boolean; mustExist?: boolean }

/** A database that is started together with Sluice may be ready a little later. */
const PATIENCE_MS = 15_000
/** The oldest major version of PostgreSQL that runs Sluice's SQL. */
const OLDEST = 15

/**
 * Starts or finds the database. `alone: false` shares an embedded server with a running Sluice. `mayCreate: false` refuses to create an embedded
 * server's cluster, and so does `mustExist`, for commands on an installation.
 * @throws StartError with the reason in one line, without the password.
 */
export async function openNodes(
  config: Pick<Config, 'databaseUrl' | 'dataDir' | 'archiveDir'>,
  log: Logger,
  { alone = true, mayCreate = true, mustExist = false }: HowToOpen = {},
): Promise<Nodes> {
  if (config.databaseUrl.length > 0) return { addresses: config.databaseUrl, close: async () => {} }
  if (mustExist) checkInstallation(config)
  if (!mayCreate && !hasCluster(config.dataDir)) throw noInstallation(`DATA_DIR ${config.dataDir} holds no database`)
  const embedded = await startPostgres({ dataDir: config.dataDir, archiveDir: config.archiveDir, log, alone })
  return { addresses: [embedded.connection], close: () => embedded.stop() }
}

/**
 * Checks that there is an installation for a command to work on, and writes nothing.
 * @throws StartError if DATA_DIR has no database and DATABASE_URL is not set
 */
export function checkInstallation({ databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>): void {
  if (databaseUrl.length > 0) return
  const version = join(dataDir, 'postgres', 'PG_VERSION')
  try {
    accessSync(version, constants.R_OK)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES')
      throw new StartError(`this user may not read DATA_DIR ${dataDir}: run the command as the user that runs Sluice`)
    throw new StartError(
      `there is no database in DATA_DIR ${dataDir}: set DATA_DIR to the data folder of Sluice (the service's is /var/lib/sluice), or DATABASE_URL to its database`,
    )
  }
}

/** The expected data is missing. It was moved, is not restored yet, or the operator wants a new installation. */
const noInstallation = (found: string) =>
  new StartError(
    `${found}, and NEW_INSTALLATION=refuse: put the data back or restore a backup. To begin a new installation run ` +
      '"node_modules/.bin/node src/main.ts migrate" with the settings and as the user of the service (docs/operating.md)',
  )

/**
 * Migrates the database through its first node and returns the names of the applied files. If that node is away, any other node can tell that no
 * migration is missing. `mayCreate: false` refuses a database that Sluice has never used.
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

/** @throws StartError if several addresses are not of one cluster, or the first is not its coordinator. */
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

/** Whether the first of these nodes that can be reached has every migration. */
async function isAnyUpToDate(nodes: readonly Node[]): Promise<boolean> {
  for (const node of nodes) {
    const missing = await onceReached(node, missingMigrations)
    if (missing !== undefined) return missing.length === 0
  }
  return false
}

/** The result of `work`; undefined if the node cannot be reached at once. */
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

/** A pool of one connection without a statement timeout, for commands that read everything. */
export function openPatientPool({ addresses: [first = ''] }: Pick<Nodes, 'addresses'>): pg.Pool {
  const own = { application_name: 'sluice reconcile', max: 1 }
  const pool = new pg.Pool(typeof first === 'string' ? { ...own, connectionString: first } : { ...own, ...first })
  // An idle connection may report that its server was stopped after the command, which does not matter any more.
  pool.on('error', () => {})
  return pool
}

/** A connection of a patient pool. `end` also ends a running statement; the driver's types lack it for clients of pools. */
export type PatientClient = pg.PoolClient & Pick<pg.Client, 'end'>

/** A connection of a patient pool, to be released by the caller. */
export async function openPatientClient(pool: pg.Pool): Promise<PatientClient> {
  const client = (await pool.connect()) as PatientClient
  // After an error between two statements, the next statement fails.
  client.on('error', () => {})
  return client
}

function clientFor(node: Node): pg.Client {
  const own = { application_name: 'sluice migrate', connectionTimeoutMillis: 5000 }
  const client = new pg.Client(typeof node === 'string' ? { ...own, connectionString: node } : { ...own, ...node })
  // After an error between two statements, the next statement fails.
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
      throw notReached(error)
    }
  }
}

/** The StartError for a connection to the database that failed. */
export function notReached(error: unknown): StartError {
  const why = error instanceof AggregateError ? error.errors.join(', ') : error instanceof Error ? error.message : error
  return new StartError(`the database of DATABASE_URL cannot be reached: ${String(why)}`)
}
