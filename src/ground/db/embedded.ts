// The embedded PostgreSQL: a real server on a socket in DATA_DIR/postgres, for one Sluice process at a time. It survives a `kill -9` of Sluice, and
// the next start adopts it.
import { existsSync, openSync, renameSync, rmSync } from 'node:fs'
import { totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import { StartError } from '../start-error.ts'
import { archiveSettings, prepareArchive } from './archive.ts'
import { type Claim, claim } from './claim.ts'
import { checkVersion, createCluster, makeFreshFolder, prepareFolder } from './cluster.ts'
import { type Cluster, clearDead, findPostmaster, halt, launch } from './postmaster.ts'
import { chooseOwner, findPrograms, type Owner } from './programs.ts'

/** A running server. `adopted`: it was running already. `stop` ends it in any case. */
export type Embedded = { connection: pg.ClientConfig; adopted: boolean; stop(): Promise<void> }

/**
 * `alone: false` shares the server with other processes. It never ends one that it did not start, or that a Sluice has adopted since. `archiveDir`:
 * where a server that is started here archives its log.
 */
type EmbeddedOptions = {
  dataDir: string
  log: Logger
  settings?: readonly string[]
  alone?: boolean
  archiveDir?: string | undefined
}

const ROOMY_BYTES = 2 * 1024 ** 3

/** For two cores and 1 to 4 GB of memory. Passed at each start rather than in a file, so that a new version of Sluice can change them. */
const SETTINGS = [
  'listen_addresses=',
  'unix_socket_permissions=0700',
  'max_connections=100',
  // More where there is memory: hundreds of organizations write to hundreds of pages each, which would otherwise be written out in between.
  `shared_buffers=${totalmem() >= ROOMY_BYTES ? 256 : 128}MB`,
  'work_mem=8MB',
  'maintenance_work_mem=128MB',
  'effective_cache_size=1GB',
  'wal_level=minimal',
  'max_wal_senders=0',
  'max_wal_size=2GB',
  'min_wal_size=256MB',
  'wal_compression=pglz',
  'checkpoint_timeout=10min',
  'random_page_cost=1.1',
  'jit=off',
  'io_workers=2',
  'max_parallel_workers_per_gather=1',
  'timezone=UTC',
  // Limits how long a client that was killed in the middle of a statement holds its locks.
  'client_connection_check_interval=500ms',
  'idle_in_transaction_session_timeout=60s',
  // Statements contain visitors' data, so they are not logged. Their errors reach Sluice's own log.
  'log_min_error_statement=panic',
  'log_error_verbosity=terse',
  'log_checkpoints=off',
]

/** The longest socket path that the system accepts. */
const LONGEST_PATH_BYTES = 107

/** Whether there is a database in `dataDir` already. */
export const hasCluster = (dataDir: string): boolean => existsSync(join(dataDir, 'postgres', 'PG_VERSION'))

/**
 * Starts the server of `dataDir`, creating the cluster at the first start, or adopts the running one.
 * @throws StartError when another Sluice uses the folder (whose server is left alone), the folder belongs to another user
 *   or another version, or the server does not start.
 */
export async function startPostgres({
  dataDir,
  log,
  settings = [],
  alone = true,
  archiveDir,
}: EmbeddedOptions): Promise<Embedded> {
  const root = join(dataDir, 'postgres')
  prepareFolder(dataDir, root)
  const owner = chooseOwner(root)
  const programs = findPrograms(owner)
  if (!hasCluster(dataDir)) await createCluster(root, owner, programs)
  checkVersion(root, programs)
  const archiving = archiveDir === undefined ? [] : archiveSettings(prepareArchive(archiveDir, dataDir, owner))
  const cluster: Cluster = {
    root,
    owner,
    programs,
    log: join(dataDir, 'postgres.log'),
    settings: [...SETTINGS, ...archiving, ...settings],
  }
  const connection: pg.ClientConfig = { host: reachable(root), port: 5432, user: 'sluice', database: 'postgres' }
  const { adopted, held } = await bringUp(cluster, connection, alone)
  if (!held) {
    const stop = async () => {
      if (adopted) return
      const claimed = await claim(connection).catch(() => undefined)
      if (claimed !== undefined) await halt(cluster)
    }
    return { connection, adopted, stop }
  }
  const watched = watch(cluster, connection, held, log)
  return {
    connection,
    adopted,
    stop: async () => {
      watched.end()
      await halt(cluster)
      await watched.ended
      await halt(cluster)
    },
  }
}

type RecoveryOptions = {
  readonly dataDir: string
  readonly settings: readonly string[]
  /** Fills the folder with the files of a cluster, for the owner. */
  readonly fill: (folder: string, owner: Owner) => Promise<void>
}

/**
 * Makes the cluster of a data folder that has none: from files that the server recovers with `settings`. A failure leaves no cluster.
 * @throws StartError with the last words of the server if it cannot recover
 */
export async function recoverPostgres({ dataDir, settings, fill }: RecoveryOptions): Promise<void> {
  const root = join(dataDir, 'postgres')
  prepareFolder(dataDir, root)
  const owner = chooseOwner(root)
  const programs = findPrograms(owner)
  const fresh = makeFreshFolder(root, owner)
  const cluster = {
    root: fresh,
    owner,
    programs,
    log: join(dataDir, 'postgres.log'),
    settings: [...SETTINGS, ...settings],
  }
  try {
    await fill(fresh, owner)
    checkVersion(fresh, programs)
    await launch(cluster)
    await halt(cluster)
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true })
    throw error
  }
  renameSync(fresh, root)
}

/** The folder to connect by. If its path is too long for a socket, an open handle of it is used instead. */
function reachable(root: string): string {
  if (Buffer.byteLength(join(root, '.s.PGSQL.5432')) <= LONGEST_PATH_BYTES) return root
  return `/proc/self/fd/${openSync(root, 'r')}`
}

type RunningServer = { adopted: boolean; held: Claim | undefined }

/** @throws once `over` is aborted, so that nothing is started after a stop. */
async function bringUp(
  cluster: Cluster,
  connection: pg.ClientConfig,
  alone: boolean,
  over?: AbortSignal,
): Promise<RunningServer> {
  let adopted = true
  for (let refusals = 0; ; ) {
    over?.throwIfAborted()
    const running = findPostmaster(cluster)
    if (!running) {
      await clearDead(cluster, connection.host ?? cluster.root)
      adopted = !(await launch(cluster))
    } else if (running.ready && !alone) {
      return { adopted, held: undefined }
    } else if (running.ready) {
      try {
        const held = await claim(connection)
        if (held) return { adopted, held }
      } catch (error) {
        // A server that another Sluice is stopping refuses or closes connections. Once it has ended, it is started again.
        if (++refusals > 500) throw error
        await sleep(20)
        continue
      }
      throw new StartError(
        `another Sluice is running on ${dirname(cluster.root)}: stop it, or set DATA_DIR to another folder`,
      )
    } else {
      await sleep(10)
    }
  }
}

/** Keeps the claim, and restarts the server if it ended by itself (out of memory, disk full, killed). */
function watch(cluster: Cluster, connection: pg.ClientConfig, first: Claim, log: Logger) {
  const over = new AbortController()
  const regain = async (): Promise<Claim | undefined> => {
    for (let pause = 100; !over.signal.aborted; pause = Math.min(pause * 2, 10_000)) {
      try {
        const { adopted, held } = await bringUp(cluster, connection, true, over.signal)
        log.warn({ restarted: !adopted }, 'PostgreSQL had closed all connections; it is up again')
        return held
      } catch (error) {
        if (!over.signal.aborted) log.error({ err: error }, 'PostgreSQL is down')
        await sleep(pause, undefined, { signal: over.signal }).catch(() => {})
      }
    }
    return undefined
  }
  const keep = async () => {
    for (let held: Claim | undefined = first; held && !over.signal.aborted; held = await regain()) await held.lost
  }
  return { end: () => over.abort(), ended: keep() }
}
