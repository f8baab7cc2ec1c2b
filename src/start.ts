// Starts and stops the process: reads the settings, runs a command or serves. Its parts are opened one after another and closed in reverse,
// whatever ends it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import sluice from '../package.json' with { type: 'json' }
import { buildDashboard, bundleServer } from './builds.ts'
import { type CommandParts, COMMANDS } from './commands.ts'
import { type Config, readConfig } from './ground/config.ts'
import { connect } from './ground/db/connect.ts'
import { isUnreachable } from './ground/db/faults.ts'
import { readLastBackup } from './ground/db/last-runs.ts'
import { migrateNodes, notReached, openNodes } from './ground/db/nodes.ts'
import { openLog } from './ground/log.ts'
import { StartError } from './ground/start-error.ts'

/** The time for closing: ten seconds for requests in flight, seven for delivery attempts in flight, the rest for their final writes. */
const CLOSE_MS = 30_000
const DATABASE_MS = 10_000
/** npm forwards a signal that the terminal has already sent to the whole process group, so two signals within this time count as one. */
const SAME_SIGNAL_MS = 1000

/** Runs the process: a command with its arguments `given`, or without one the server, until a signal ends it. Sets the exit code. */
export async function run(command: string | undefined, given: readonly string[] = []): Promise<void> {
  await using open = new AsyncDisposableStack()
  let config: Config | undefined
  const chosen = command === undefined ? undefined : COMMANDS.get(command)
  try {
    if (command !== undefined && chosen === undefined)
      throw new StartError(
        `there is no command ${JSON.stringify(command)}: use ${[...COMMANDS.keys()].join(', ')}, or no command to serve`,
      )
    config = readConfig(process.env)
    const log = openLog(config.logLevel)
    const ended = waitForSignal(log)
    await (chosen?.run ?? serve)({ given, config, log, open, ended })
  } catch (thrown) {
    process.exitCode = 1
    const failed = chosen?.failed ?? 'Sluice cannot start'
    const error = explainDatabase(explainFolder(thrown, config?.dataDir), config)
    if (error instanceof StartError) console.error(`${failed}: ${error.message.replace(/\s*\n\s*/g, ' ')}`)
    else console.error(`${failed}:`, error)
  }
}

async function serve({ config, log, open, ended }: CommandParts): Promise<void> {
  const built = config.role === 'work' ? undefined : buildDashboard(log)
  // It is awaited below, so until then a failure must not count as an unhandled rejection.
  built?.catch(() => {})
  // The bundle is for the next start, so this start does not wait for it.
  void bundleServer(log)
  // Loading these modules takes half a second, so it happens while the database opens. Other commands do not need them.
  const loaded = Promise.all([import('./house.ts'), import('./people/sign-in/setup-code.ts')])
  const mayCreate = config.newInstallation === 'allow'
  const nodes = await openNodes(config, log, { mayCreate })
  open.defer(() => nodes.close())
  const applied = await migrateNodes(nodes, { mayCreate })
  if (applied.length > 0) log.info({ applied }, 'the database was migrated')
  await built
  const database = connect(nodes.addresses, { log, slow_ms: config.slowQueryMs })
  open.defer(() => atMost(DATABASE_MS, database.close()))
  const [{ openHouse }, { setupLine }] = await loaded
  const house = await openHouse(config, database, log)
  open.defer(() => atMost(CLOSE_MS, house.close()))
  const address = await house.listen()
  const last_backup = await readLastBackup(database.reads).catch(() => undefined)
  log.info({ version: sluice.version, last_backup }, `Sluice ${sluice.version}, last backup: ${last_backup ?? 'none'}`)
  const opened = config.role === 'work' ? undefined : config.baseUrl
  console.log(`Sluice is open at ${opened ?? address.replace('127.0.0.1', 'localhost')}`)
  const line =
    config.role === 'work'
      ? undefined
      : await setupLine(house.ground).catch((error: unknown) => {
          log.warn({ err: error }, 'could not read whether there is an owner; restart to see the setup code')
          return undefined
        })
  if (line !== undefined) console.log(line)
  await ended
  log.info('closing')
}

/** Resolves at the first SIGTERM or SIGINT. A later second one ends the process at once. */
function waitForSignal(log: Logger): Promise<void> {
  const fail = (error: unknown) => {
    log.fatal({ err: error }, 'uncaught error')
    process.exit(1)
  }
  process.on('uncaughtException', fail).on('unhandledRejection', fail)
  return new Promise(resolve => {
    let first: number | undefined
    const end = () => {
      first ??= performance.now()
      if (performance.now() - first > SAME_SIGNAL_MS) process.exit(1)
      resolve()
    }
    process.on('SIGTERM', end).on('SIGINT', end)
  })
}

/** Waits for the work, at most for `limit_ms`. Longer work is cut off when the process ends. */
const atMost = async (limit_ms: number, work: Promise<unknown>): Promise<void> => {
  await Promise.race([work, sleep(limit_ms, undefined, { ref: false })])
}

/** Turns a lost connection to the database of DATABASE_URL into a StartError. An error with a path is one of a file. */
function explainDatabase(error: unknown, config: Config | undefined): unknown {
  const isOther = error instanceof StartError || !(error instanceof Error) || 'path' in error
  return isOther || !config?.databaseUrl.length || !isUnreachable(error) ? error : notReached(error)
}

/** Turns a file error inside DATA_DIR into a StartError, because any part may be the first to write into a full or read-only folder. */
function explainFolder(error: unknown, dataDir: string | undefined): unknown {
  if (dataDir === undefined || error instanceof StartError || !(error instanceof Error) || !('path' in error))
    return error
  const isInside = error.path === dataDir || String(error.path).startsWith(`${dataDir}/`)
  return isInside ? new StartError(`DATA_DIR ${dataDir} cannot be used: ${error.message}`) : error
}
