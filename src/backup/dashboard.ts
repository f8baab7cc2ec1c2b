/**
 * Settings → Backup: the list of backups, starting one, and downloading its file. A backup has the data of all organizations, so all others than the
 * operator get the answer of an unknown route. A backup is taken by a process of its own, which ends with this one.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { open, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import type { Call } from '../contract/endpoint.ts'
import { refuse } from '../contract/refusals.ts'
import { childEnvironment } from '../ground/child-environment.ts'
import { countCrash, measureChild } from '../ground/child-metrics.ts'
import { secretHere } from '../ground/db/secrets.ts'
import { type Context, type Furnished, type Ground, idOf, room } from '../ground/room.ts'
import { isOperator } from '../people/accounts/operator.ts'
import * as api from './api.ts'
import type { ChildOrder } from './backup-child.ts'
import { hasSignature } from './file.ts'
import { nameBackup } from './retention.ts'
import { type BackupRun, claimRun, endRun, INTERRUPTED, listRuns } from './runs.ts'
import { backupFolder } from './taking.ts'

/** The most backups that the dashboard shows. */
const SHOWN = 50

/** The rooms of the dashboard's backups. Closing ends a running backup, without a file. */
export function openBackups(ground: Ground): { rooms: Furnished[]; close(): Promise<void> } {
  const children = new Set<ChildProcess>()
  let closing = false
  const begin = (run: BackupRun, path: string) => {
    const child = startChild(ground, run, path)
    children.add(child)
    measureChild('backup', child)
    const ended = (code: number | null, signal: string | null) => {
      children.delete(child)
      if (code === 0) return
      if (!closing) countCrash('backup')
      ground.log.error({ code, signal }, 'the process of a backup has ended')
      void endRun(ground.db, run, { failure: INTERRUPTED }).catch(() => {})
    }
    child.once('exit', ended).once('error', error => {
      ground.log.error({ err: error }, 'the process of a backup cannot be started')
      if (child.pid === undefined) ended(null, null)
    })
  }
  const startBackup = async ({ db, config, actor }: Context<typeof api.startBackup>) => {
    await requireOperator({ db, config }, actor.user_id)
    const path = join(backupFolder(config), nameBackup(new Date(), secretHere(config)))
    const run = await claimRun(db, { path, started_by: actor.user_id })
    if (run === undefined) refuse('backup_running')
    begin(run, path)
    const [line] = await readLines(ground, 1, run.id)
    return line ?? refuse('object_not_found')
  }
  return {
    rooms: room(api, { listBackups, startBackup, downloadBackup }),
    async close() {
      closing = true
      await Promise.all(
        [...children].map(child => {
          const ended = new Promise(resolve => child.once('exit', resolve))
          if (child.connected) child.disconnect()
          return ended
        }),
      )
    },
  }
}

function startChild({ config, database }: Ground, run: BackupRun, path: string): ChildProcess {
  const child = fork(new URL('./backup-child.ts', import.meta.url), {
    serialization: 'advanced',
    detached: true,
    // Settings are sent as a message.
    env: childEnvironment(),
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const { logLevel, secret, dataDir, backupDir, backupKeep, backupOtherDataDirs } = config
  const own = { logLevel, secret, dataDir, backupDir, backupKeep, backupOtherDataDirs }
  const order: ChildOrder = { config: own, addresses: database.addresses, run, path }
  child.send(order)
  return child
}

async function requireOperator(ground: Pick<Ground, 'db' | 'config'>, user_id: string): Promise<void> {
  if (!(await isOperator(ground, user_id))) refuse('route_not_found')
}

/** The latest backups, with the folder of new ones. Refuses `route_not_found` for all but the operator. */
async function listBackups({ db, config, actor }: Context<typeof api.listBackups>) {
  await requireOperator({ db, config }, actor.user_id)
  return { folder: backupFolder(config), keep: config.backupKeep, data: await readLines({ db }, SHOWN) }
}

async function readLines({ db }: Pick<Ground, 'db'>, most: number, id?: string) {
  const runs = await listRuns(db, most, id)
  return Promise.all(
    runs.map(async run => {
      const state = run.failure !== null ? 'failed' : run.ended_at === null ? 'running' : 'complete'
      const size = state === 'complete' ? (await stat(run.path).catch(() => undefined))?.size : undefined
      return {
        ...run,
        state: state as 'running' | 'complete' | 'failed',
        is_here: size === Number(run.bytes),
        bytes: Number(run.bytes),
        rows: Number(run.rows),
      }
    }),
  )
}

const GONE = {
  error: 'this server does not have the file of this backup',
  hint: 'It was moved or removed, another server has it, or the backup is not complete.',
}

/** The file of a complete backup. Refuses `route_not_found` for all but the operator, and `object_not_found` if this server does not have the file. */
async function downloadBackup(
  context: Context<typeof api.downloadBackup>,
  { params }: Call<typeof api.downloadBackup>,
) {
  const { db, config, log, actor } = context
  await requireOperator({ db, config }, actor.user_id)
  const [line] = await readLines({ db }, 1, idOf(params.id))
  if (line === undefined) refuse('object_not_found')
  // The path comes from the database, so only a file that is a backup is sent.
  if (!line.is_here || !(await hasSignature(line.path).catch(() => false))) refuse('object_not_found', GONE)
  const file = await open(line.path).catch(() => refuse('object_not_found', GONE))
  log.info({ user_id: actor.user_id, path: line.path }, 'a backup is downloaded')
  context.header('content-length', String(line.bytes))
  context.header('content-disposition', `attachment; filename="${basename(line.path).replaceAll(/[^\w.-]/g, '_')}"`)
  return Readable.toWeb(file.createReadStream()) as ReadableStream<Uint8Array>
}
