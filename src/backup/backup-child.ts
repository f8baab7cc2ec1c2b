// The process that takes a backup for the dashboard, so that no visitor waits for it. It ends early, without a file, if its parent disconnects or ends.
import { once } from 'node:events'
import { resolve } from 'node:path'
import sluice from '../../package.json' with { type: 'json' }
import type { Config } from '../ground/config.ts'
import { connect, type Node } from '../ground/db/connect.ts'
import { openPatientClient, openPatientPool } from '../ground/db/nodes.ts'
import { secretHere } from '../ground/db/secrets.ts'
import { openLog } from '../ground/log.ts'
import { StartError } from '../ground/start-error.ts'
import { removeOldBackups } from './retention.ts'
import { type BackupRun, endRun } from './runs.ts'
import { prepareBackupFolder, runBackup } from './taking.ts'

/** The one message that the process receives. */
export type ChildOrder = {
  readonly config: Pick<Config, 'logLevel' | 'secret' | 'dataDir' | 'backupDir' | 'backupKeep' | 'backupOtherDataDirs'>
  readonly addresses: readonly Node[]
  readonly run: BackupRun
  readonly path: string
}

const interrupted = new AbortController()
process.once('disconnect', () => interrupted.abort(new StartError('Sluice was stopped meanwhile: run it again')))
// A service manager signals every process of the service; only the parent decides when this process ends.
process.on('SIGINT', () => {}).on('SIGTERM', () => {})
const [{ config, addresses, run, path }] = (await once(process, 'message')) as [ChildOrder]
const log = openLog(config.logLevel)
const database = connect(addresses, { log, name: 'sluice backup' })
const pool = openPatientPool({ addresses })
try {
  const secret = secretHere(config)
  if (secret === undefined) throw new StartError('SECRET, which signs the backup, is missing')
  await prepareBackupFolder(config)
  const client = await openPatientClient(pool)
  const folders = [config.dataDir, ...config.backupOtherDataDirs.map(folder => resolve(folder))]
  const order = { path, folders, version: sluice.version, secret, signal: interrupted.signal }
  await runBackup({ db: database.kysely, run, client, log, order }).finally(() => client.release())
  await removeOldBackups(path, config.backupKeep, secret).catch((error: unknown) =>
    log.error({ err: error }, 'the backup is complete, but old ones could not be removed'),
  )
} catch (error) {
  log.warn({ err: error, path }, 'the backup failed')
  // If the run has ended already, this changes nothing.
  const failure = error instanceof Error ? error.message : String(error)
  await endRun(database.kysely, run, { failure }).catch(() => {})
}
await pool.end()
await database.close()
process.exit()
