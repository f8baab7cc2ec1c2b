/** Takes a claimed backup: renews its lease, stores its progress and its end. Used by `npm run backup` and by the dashboard's backups. */
import { access, stat } from 'node:fs/promises'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { createFolderIn } from '../ground/folder-owner.ts'
import type { Config } from '../ground/config.ts'
import type { PatientClient } from '../ground/db/nodes.ts'
import type { Tables } from '../ground/db/tables.ts'
import { runBehind } from '../ground/priority.ts'
import { openRounds } from '../ground/rounds.ts'
import { StartError } from '../ground/start-error.ts'
import { type BackupOrder, type BackupSummary, takeBackup } from './backup.ts'
import { UNFINISHED } from './file.ts'
import { type BackupRun, endRun, keepRun } from './runs.ts'

/** The dashboard shows progress that often. */
const PROGRESS_MS = 2000

type Taking = {
  readonly db: Kysely<Tables>
  /** Undefined on a database that does not list its backups yet. */
  readonly run: BackupRun | undefined
  readonly client: PatientClient
  readonly log: Logger
  readonly order: BackupOrder
}

/**
 * Takes the backup at a lower priority than visitors. If it fails, the run ends with the reason.
 * @throws as `takeBackup` does, and if another process took the run over
 */
export async function runBackup({ db, run, client, log, order }: Taking): Promise<BackupSummary> {
  // Not set in the unit, whose priority a PostgreSQL that the command starts would keep.
  runBehind(process.pid)
  const lost = new AbortController()
  const signal = AbortSignal.any([lost.signal, ...(order.signal === undefined ? [] : [order.signal])])
  // A statement may wait for a lock, or copy a large table, for hours.
  signal.addEventListener('abort', () => void client.end().catch(() => {}))
  const counts = { rows: 0, tables: 0, journals: 0 }
  const progress = async (path: string) => ({ ...counts, bytes: (await stat(path).catch(() => undefined))?.size ?? 0 })
  const keep = async () => {
    if (run === undefined || (await keepRun(db, run, await progress(order.path + UNFINISHED)))) return
    lost.abort(
      new StartError(
        'another backup was started, because this one had not been able to reach the database for a minute',
      ),
    )
  }
  const rounds = openRounds('backup/taking', PROGRESS_MS, keep, error =>
    log.warn({ err: error }, 'could not store the progress of the backup; retrying'),
  )
  try {
    await checkFolders(order.folders.slice(1))
    const summary = await takeBackup(client, { ...order, signal }, counts)
    await rounds.close()
    if (run !== undefined) await endRun(db, run, { ...(await progress(order.path)), failure: null })
    return summary
  } catch (error) {
    await rounds.close()
    // Without the database its lease expires, and it is shown as interrupted.
    if (run !== undefined) await endRun(db, run, { failure: wordsOf(error) }).catch(() => {})
    throw error
  }
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** @throws StartError if one of the folders is missing */
export async function checkFolders(folders: readonly string[]): Promise<void> {
  for (const folder of folders)
    await access(folder).catch(() => {
      throw new StartError(`there is no folder ${folder}`)
    })
}

/** The folder of the dashboard's backups: BACKUP_DIR, which must exist, or `backups` in DATA_DIR. */
export const backupFolder = ({ backupDir, dataDir }: Pick<Config, 'backupDir' | 'dataDir'>): string =>
  backupDir ?? `${dataDir}/${DEFAULT_FOLDER}`
const DEFAULT_FOLDER = 'backups'

/** Creates the folder in DATA_DIR. A folder that BACKUP_DIR names is never created, because its disk may not be mounted. */
export async function prepareBackupFolder({
  backupDir,
  dataDir,
}: Pick<Config, 'backupDir' | 'dataDir'>): Promise<void> {
  if (backupDir === undefined) await createFolderIn(dataDir, DEFAULT_FOLDER)
}
