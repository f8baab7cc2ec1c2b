// The commands of the process: what `npm run migrate`, `backup` and the others do, with or without a running Sluice.
import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type pg from 'pg'
import type { Logger } from 'pino'
import sluice from '../package.json' with { type: 'json' }
import { clusterRefused } from './backup/backup.ts'
import { removeOldCopies, takeCopy } from './backup/copies.ts'
import { restoreToMoment } from './backup/moment.ts'
import { nameBackup, removeOldBackups } from './backup/retention.ts'
import { checkBackup, checkFolder, restoreBackup } from './backup/restore.ts'
import { claimRun, hasRuns } from './backup/runs.ts'
import { checkFolders, runBackup } from './backup/taking.ts'
import type { Config } from './ground/config.ts'
import { findArchive } from './ground/db/archive.ts'
import { connect } from './ground/db/connect.ts'
import { sqlState } from './ground/db/faults.ts'
import { noteLastRuns } from './ground/db/last-runs.ts'
import {
  checkInstallation,
  migrateNodes,
  notReached,
  openNodes,
  openPatientClient,
  openPatientPool,
} from './ground/db/nodes.ts'
import { secretHere } from './ground/db/secrets.ts'
import { StartError } from './ground/start-error.ts'
import { importRates, WrongRatesFile } from './money/rates/rates-file.ts'
import { resetSecondFactor, mailResetNotice } from './people/second-factor/lost.ts'
import { reconcileAll } from './reading/audit/reconcile.ts'

/** `given`: the arguments. `open` closes what the command opens. `ended` resolves at a signal. */
export type CommandParts = {
  readonly given: readonly string[]
  readonly config: Config
  readonly log: Logger
  readonly open: AsyncDisposableStack
  readonly ended: Promise<void>
}

/** `failed` begins the line that says why the command failed. */
type Command = { readonly failed: string; readonly run: (parts: CommandParts) => Promise<void> }

/** The commands by name. */
export const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ['migrate', { failed: 'The migration failed', run: migrateOnly }],
  ['reconcile', { failed: 'The reconciliation failed', run: reconcileOnly }],
  ['rates', { failed: 'The import of rates failed', run: importRatesOnly }],
  ['second-factor', { failed: 'The reset of the second factor failed', run: resetSecondFactorOnly }],
  ['backup', { failed: 'The backup failed', run: backUpOnly }],
  ['restore', { failed: 'The restore failed', run: restoreOnly }],
])

async function migrateOnly({ config, log, open }: CommandParts): Promise<void> {
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
async function reconcileOnly({ config, log, open }: CommandParts): Promise<void> {
  const nodes = await openNodes(config, log, EXISTING)
  open.defer(() => nodes.close())
  const pool = openPatientPool(nodes)
  open.defer(() => pool.end())
  const wrong = await reconcileAll(pool, line => console.log(line)).catch((error: unknown) => {
    throw sqlState(error) === UNKNOWN_TABLE ? new StartError(NOT_MIGRATED) : error
  })
  const ended = { last_reconcile: new Date().toISOString(), last_reconcile_wrong: String(wrong) }
  await noteLastRuns(pool, ended).catch((error: unknown) =>
    log.warn({ err: error }, 'could not store the time of this reconciliation for monitoring'),
  )
  if (wrong > 0) process.exitCode = 1
}

/** Imports currency rates, with or without a running Sluice. @throws StartError for an unreadable or invalid file; nothing is written then. */
async function importRatesOnly({ given: [verb, file], config, log, open }: CommandParts): Promise<void> {
  if (verb !== 'import' || file === undefined) throw new StartError('name the file: npm run rates -- import FILE')
  const csv = await readFile(file, 'utf8').catch((error: Error) => {
    throw new StartError(`${file} cannot be read: ${error.message}`)
  })
  const { client } = await openClient({ config, log, open }, EXISTING)
  const { lines, added } = await importRates(client, csv).catch((error: unknown) => {
    if (error instanceof WrongRatesFile) throw new StartError(`${file}: ${error.message}`)
    throw sqlState(error) === UNKNOWN_TABLE ? new StartError(NOT_MIGRATED) : error
  })
  console.log(`Read ${lines} rates, ${added} of them new.`)
}

/** Resets a second factor, with or without a running Sluice, and mails its person. @throws StartError for an address without an account. */
async function resetSecondFactorOnly({ given: [verb, email], config, log, open }: CommandParts): Promise<void> {
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
async function backUpOnly({ given, config, log, open, ended }: CommandParts): Promise<void> {
  if (config.databaseUrl.length > 1) throw clusterRefused()
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
  await checkFolders([...folders.slice(1), ...(keep === undefined ? [] : [dirname(path)])])
  const { client, addresses } = await openClient({ config, log, open }, EXISTING)
  const database = connect(addresses, { log })
  open.defer(() => database.close())
  const { kysely: db } = database
  const isListed = await hasRuns(db)
  const run = isListed ? await claimRun(db, { path, started_by: null }) : undefined
  if (isListed && run === undefined) throw new StartError('another backup is running: wait until it has ended')
  const interrupted = new AbortController()
  void ended.then(() => interrupted.abort(new StartError('it was interrupted by a signal')))
  const order = { path, folders, version: sluice.version, secret, signal: interrupted.signal }
  const { rows, tables, journals, taken_at } = await runBackup({ db, run, client, log, order })
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
  await archiveCopy(client, config, keep)
}

/** With ARCHIVE_DIR, copies the database into the archive, and removes what only older copies need. */
async function archiveCopy(client: pg.ClientBase, { archiveDir, dataDir }: Config, keep: number): Promise<void> {
  const archive = archiveDir === undefined ? undefined : findArchive(archiveDir, dataDir)
  if (archive === undefined) return
  try {
    const { folder, finished_at } = await takeCopy(client, join(dataDir, 'postgres'), archive)
    await removeOldCopies(archive, keep)
    console.log(`${folder} has the database for restores to any moment from ${finished_at} on.`)
  } catch (error) {
    process.exitCode = 1
    const words = error instanceof Error ? error.message : String(error)
    console.error(`The backup is complete, but the database could not be copied into the archive: ${words}`)
  }
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

const TO = '--to'

/** Restores the embedded database to a moment of its archive. @throws StartError as `restoreToMoment` does; no database is left then. */
async function restoreTo(given: readonly string[], config: Config): Promise<void> {
  const [option, to, archive, ...others] = given
  if (option !== TO || to === undefined || archive === undefined || others.length > 0)
    throw new StartError(
      `name the moment and the archive: npm run restore -- ${TO} 2026-11-26T03:00:00Z ARCHIVE_DIR/2026-11-26-1a2b3c4d`,
    )
  await restoreToMoment({ config, archive: resolve(archive), to })
  console.log(
    `Restored what was committed up to ${to}. Clicks that waited in a journal are not in the archive. Then run npm run reconcile.`,
  )
}

/** Restores a backup into an empty database and data folder. @throws StartError as `checkBackup` and `restoreBackup` do; both stay empty then. */
async function restoreOnly({ given, config, log, open }: CommandParts): Promise<void> {
  if (given.includes(TO)) return restoreTo(given, config)
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
  const { client } = await openClient({ config, log, open }, { alone: true })
  await restoreBackup(client, path, contents, config.dataDir)
  const { rows, tables, journals, taken_at, version } = contents
  console.log(
    `Restored everything that Sluice ${version} acknowledged before ${taken_at}: ${rows} rows of ${tables} tables, and ${journals.length} ` +
      'journal files, which the next start stores. Then run npm run reconcile.',
  )
}

/** A connection for a command, and the addresses for more of them. It is closed after the command. */
async function openClient(
  { config, log, open }: Pick<CommandParts, 'config' | 'log' | 'open'>,
  how: Parameters<typeof openNodes>[2],
) {
  const nodes = await openNodes(config, log, how)
  open.defer(() => nodes.close())
  const pool = openPatientPool(nodes)
  open.defer(() => pool.end())
  const client = await openPatientClient(pool).catch((error: unknown) => {
    throw config.databaseUrl.length > 0 ? notReached(error) : error
  })
  open.defer(() => client.release())
  return { client, addresses: nodes.addresses }
}
