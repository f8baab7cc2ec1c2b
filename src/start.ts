// Starts and stops the process: reads the settings, runs a command or serves. Its parts are opened one after another and closed in reverse,
// whatever ends it.
import { access, readFile } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import sluice from '../package.json' with { type: 'json' }
import { takeBackup } from './backup/backup.ts'
import { nameBackup, removeOldBackups } from './backup/retention.ts'
import { checkBackup, checkFolder, restoreBackup } from './backup/restore.ts'
import { buildDashboard, bundleServer } from './builds.ts'
import { type Config, readConfig } from './ground/config.ts'
import { connect } from './ground/db/connect.ts'
import { isUnreachable, sqlState } from './ground/db/faults.ts'
import { readLastBackup } from './ground/db/last-backup.ts'
import { noteReconcile } from './ground/db/last-reconcile.ts'
import { checkInstallation, migrateNodes, notReached, openNodes, openPatientPool } from './ground/db/nodes.ts'
import { secretHere } from './ground/db/secrets.ts'
import { openLog } from './ground/log.ts'
import { StartError } from './ground/start-error.ts'
import { importRates, WrongRatesFile } from './money/rates/rates-file.ts'
import { resetSecondFactor, mailResetNotice } from './people/second-factor/lost.ts'
import { reconcileAll } from './reading/audit/reconcile.ts'

/** The time for closing: ten seconds for requests in flight, seven for delivery attempts in flight, the rest for their final writes. */
const CLOSE_MS = 30_000
const DATABASE_MS = 10_000
/** npm forwards a signal that the terminal has already sent to the whole process group, so two signals within this time count as one. */
const SAME_SIGNAL_MS = 1000

/** The commands, with the beginning of the line that says why one failed. */
const COMMANDS: ReadonlyMap<string | undefined, string> = new Map([
  [undefined, 'Sluice cannot start'],
  ['migrate', 'The migration failed'],
  ['reconcile', 'The reconciliation failed'],
  ['rates', 'The import of rates failed'],
  ['second-factor', 'The reset of the second factor failed'],
  ['backup', 'The backup failed'],
  ['restore', 'The restore failed'],
])

/** Runs the process: a command with its arguments `given`, or without one the server, until a signal ends it. Sets the exit code. */
export async function run(command: string | undefined, given: readonly string[] = []): Promise<void> {
  await using open = new AsyncDisposableStack()
  let config: Config | undefined
  try {
    if (!COMMANDS.has(command)) {
      throw new StartError(
        `there is no command ${JSON.stringify(command)}: use migrate, reconcile, rates, second-factor, backup or restore, or no command to serve`,
      )
    }
    config = readConfig(process.env)
    const log = openLog(config.logLevel)
    const ended = waitForSignal(log)
    if (command === 'migrate') await migrateOnly(config, log, open)
    else if (command === 'reconcile') await reconcileOnly(config, log, open)
    else if (command === 'rates') await importRatesOnly(given, config, log, open)
    else if (command === 'second-factor') await resetSecondFactorOnly(given, config, log, open)
    else if (command === 'backup') await backUpOnly(given, config, log, open, ended)
    else if (command === 'restore') await restoreOnly(given, config, log, open)
    else await serve(config, log, open, ended)
  } catch (thrown) {
    process.exitCode = 1
    const failed = COMMANDS.get(command) ?? 'Sluice cannot start'
    const error = explainDatabase(explainFolder(thrown, config?.dataDir), config)
    if (error instanceof StartError) console.error(`${failed}: ${error.message.replace(/\s*\n\s*/g, ' ')}`)
    else console.error(`${failed}:`, error)
  }
}

async function migrateOnly(config: Config, log: Logger, open: AsyncDisposableStack): Promise<void> {
  const nodes = await openNodes(config, log)
  open.defer(() => nodes.close())
  const applied = await migrateNodes(nodes)
  console.log(applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`)
}

/** For commands on an installation that may be running. A wrong DATA_DIR must not become a new one. */
const EXISTING = { alone: false, mustExist: true }
const UNKNOWN_TABLE = '42P01'
const NOT_MIGRATED = 'the database lacks tables of this version: start Sluice on it first, or run npm run migrate'

/** Runs the audit, with or without a running Sluice. The exit code is 1 when anything differs. */
async function reconcileOnly(config: Config, log: Logger, open: AsyncDisposableStack): Promise<void> {
  const nodes = await openNodes(config, log, EXISTING)
  open.defer(() => nodes.close())
  const pool = openPatientPool(nodes)
  open.defer(() => pool.end())
  const wrong = await reconcileAll(pool, line => console.log(line)).catch((error: unknown) => {
    throw sqlState(error) === UNKNOWN_TABLE ? new StartError(NOT_MIGRATED) : error
  })
  await noteReconcile(pool, new Date().toISOString(), wrong).catch((error: unknown) =>
    log.warn({ err: error }, 'could not store the time of this reconciliation for monitoring'),
  )
  if (wrong > 0) process.exitCode = 1
}

/** Imports currency rates, with or without a running Sluice. @throws StartError for an unreadable or invalid file; nothing is written then. */
async function importRatesOnly(
  [verb, file]: readonly string[],
  config: Config,
  log: Logger,
  open: AsyncDisposableStack,
): Promise<void> {
  if (verb !== 'import' || file === undefined) throw new StartError('name the file: npm run rates -- import FILE')
  const csv = await readFile(file, 'utf8').catch((error: Error) => {
    throw new StartError(`${file} cannot be read: ${error.message}`)
  })
  const client = await openClient(config, log, open, EXISTING)
  const { lines, added } = await importRates(client, csv).catch((error: unknown) => {
    if (error instanceof WrongRatesFile) throw new StartError(`${file}: ${error.message}`)
    throw sqlState(error) === UNKNOWN_TABLE ? new StartError(NOT_MIGRATED) : error
  })
  console.log(`Read ${lines} rates, ${added} of them new.`)
}

/** Resets a second factor, with or without a running Sluice, and mails its person. @throws StartError for an address without an account. */
async function resetSecondFactorOnly(
  [verb, email]: readonly string[],
  config: Config,
  log: Logger,
  open: AsyncDisposableStack,
): Promise<void> {
  if (verb !== 'reset' || email === undefined)
    throw new StartError('name the account: npm run second-factor -- reset person@example.com')
  const nodes = await openNodes(config, log, EXISTING)
  open.defer(() => nodes.close())
  const database = connect(nodes.addresses, { log })
  open.defer(() => database.close())
  const reset = await resetSecondFactor(database.kysely, email).catch((error: unknown) => {
    throw sqlState(error) === UNKNOWN_TABLE ? new StartError(NOT_MIGRATED) : error
  })
  if (reset === undefined) throw new StartError(`no account has the address ${email}`)
  if (!reset.had_factor) return console.log('The account has no second factor. Its sessions are ended.')
  await mailResetNotice({ config, log }, email)
  console.log('The second factor is removed and every session ended. The password alone now signs in.')
}

const KEEP = '--keep'

/**
 * Takes a backup, with or without a running Sluice, and with `--keep` removes old ones. A signal interrupts it.
 * @throws StartError as `takeBackup` does; no file is written then, and none removed
 */
async function backUpOnly(
  given: readonly string[],
  config: Config,
  log: Logger,
  open: AsyncDisposableStack,
  ended: Promise<void>,
): Promise<void> {
  checkInstallation(config)
  const secret = secretHere(config)
  if (secret === undefined)
    throw new StartError(
      'SECRET, which signs the backup, is missing: run this with the same SECRET, or the same DATA_DIR, as Sluice',
    )
  const [keep, [place, ...others]] = keptOf(given)
  if (keep !== undefined && place === undefined)
    throw new StartError(`name the folder of the backups: npm run backup -- ${KEEP} ${keep} FOLDER`)
  const now = new Date()
  const path =
    keep === undefined ? resolve(place ?? nameBackup(now)) : join(resolve(place ?? ''), nameBackup(now, secret))
  const folders = [config.dataDir, ...others.map(folder => resolve(folder))]
  for (const folder of [...folders.slice(1), ...(keep === undefined ? [] : [dirname(path)])])
    await access(folder).catch(() => {
      throw new StartError(`there is no folder ${folder}`)
    })
  const client = await openClient(config, log, open, EXISTING)
  // Visitors go first. It is not set in the unit, whose priority a PostgreSQL started by this command would keep.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  const interrupted = new AbortController()
  void ended.then(() => interrupted.abort(new StartError('it was interrupted by a signal')))
  const taking = { path, folders, version: sluice.version, secret, signal: interrupted.signal }
  const { rows, tables, journals, taken_at } = await takeBackup(client, taking)
  console.log(
    `${path} contains everything acknowledged before ${taken_at}: ${rows} rows of ${tables} tables, ${journals} journal files. SECRET ` +
      `${config.secret === undefined ? `(${join(config.dataDir, 'secret')}) ` : ''}is not in it: keep it separately, because nothing can be restored without it.`,
  )
  if (keep === undefined) return
  const removed = await removeOldBackups(path, keep, secret).catch((error: Error) => {
    process.exitCode = 1
    console.error(`The backup is complete, but old ones could not be removed: ${error.message}`)
    return []
  })
  for (const name of removed) console.log(`Removed ${join(dirname(path), name)}, because ${keep} are kept.`)
}

/** The number after `--keep`, if it is given, and the other words. @throws StartError if it is no number from 1 on */
function keptOf(given: readonly string[]): [number | undefined, readonly string[]] {
  const at = given.indexOf(KEEP)
  if (at === -1) return [undefined, given]
  const number = given[at + 1] ?? ''
  if (!/^[1-9]\d{0,4}$/.test(number))
    throw new StartError(`${KEEP} needs the number of backups to keep, such as ${KEEP} 14`)
  return [Number(number), given.toSpliced(at, 2)]
}

const UNSIGNED = '--unsigned'

/** Restores a backup into an empty database and data folder. @throws StartError as `checkBackup` and `restoreBackup` do; both stay empty then. */
async function restoreOnly(
  given: readonly string[],
  config: Config,
  log: Logger,
  open: AsyncDisposableStack,
): Promise<void> {
  const [file, ...others] = given.filter(word => word !== UNSIGNED)
  if (file === undefined || others.length > 0) throw new StartError('name the file: npm run restore -- FILE')
  const path = resolve(file)
  const contents = await checkBackup(path, secretHere(config), { unsigned: given.includes(UNSIGNED) })
  if (contents.key === undefined)
    console.error(
      `Warning: ${path} has no signature, so changes made to it cannot be detected. Everything in it is restored, including any account, ` +
        'role or address that an attacker may have added.',
    )
  await checkFolder(config.dataDir)
  const client = await openClient(config, log, open, { alone: true })
  await restoreBackup(client, path, contents, config.dataDir)
  const { rows, tables, journals, taken_at, version } = contents
  console.log(
    `Restored everything that Sluice ${version} acknowledged before ${taken_at}: ${rows} rows of ${tables} tables, and ${journals.length} ` +
      'journal files, which the next start stores. Then run npm run reconcile.',
  )
}

/** A connection for a command. It is closed after the command. */
async function openClient(
  config: Config,
  log: Logger,
  open: AsyncDisposableStack,
  how: Parameters<typeof openNodes>[2],
) {
  const nodes = await openNodes(config, log, how)
  open.defer(() => nodes.close())
  const pool = openPatientPool(nodes)
  open.defer(() => pool.end())
  const client = await pool.connect().catch((error: unknown) => {
    throw config.databaseUrl.length > 0 ? notReached(error) : error
  })
  open.defer(() => client.release())
  return client
}

async function serve(config: Config, log: Logger, open: AsyncDisposableStack, ended: Promise<void>): Promise<void> {
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
  const database = connect(nodes.addresses, { log })
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
