/** Restores the embedded database to a moment: the newest copy in the archive before it, and the archived log up to it. */
import { chown, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { recoverySettings } from '../ground/db/archive.ts'
import type { Config } from '../ground/config.ts'
import { hasCluster, recoverPostgres } from '../ground/db/embedded.ts'
import { secretHere } from '../ground/db/secrets.ts'
import { StartError } from '../ground/start-error.ts'
import { listCopies, unpackCopy } from './copies.ts'
import { checkFolder } from './restore.ts'

/** The word for the end of the archive. */
const LATEST = 'latest'
const Moment = z.iso.datetime({ offset: true })
/** PostgreSQL's words if the archive ends before the moment. */
const TOO_LATE = /recovery ended before configured recovery target was reached/

type MomentOrder = { readonly config: Config; readonly archive: string; readonly to: string }

/**
 * Restores what was committed up to the moment `to` (ISO 8601, or `latest`) into a data folder that has at most `secret`.
 * @throws StartError if the moment is not in the archive, or the folder is not empty; then no database is left
 */
export async function restoreToMoment({ config, archive, to }: MomentOrder): Promise<void> {
  const { dataDir, databaseUrl } = config
  if (databaseUrl.length > 0)
    throw new StartError(
      'only the embedded database is restored to a moment by this command: for your own server follow docs/operating.md, or remove DATABASE_URL',
    )
  if (to !== LATEST && !Moment.safeParse(to).success)
    throw new StartError(`${JSON.stringify(to)} is no moment: write it like 2026-11-26T03:00:00Z, or ${LATEST}`)
  if (secretHere(config) === undefined)
    throw new StartError(
      'there is no SECRET here: put the file `secret` of that installation into DATA_DIR, or set SECRET to its value',
    )
  if (hasCluster(dataDir))
    throw new StartError(`there is a database in DATA_DIR ${dataDir}: restore into a new DATA_DIR`)
  await checkFolder(dataDir)
  const copies = await listCopies(archive)
  const copy = copies.findLast(({ finished_at }) => to === LATEST || Date.parse(finished_at) <= Date.parse(to))
  if (copy === undefined)
    throw new StartError(
      copies[0] === undefined
        ? `${archive} has no copy of the database yet: npm run backup -- --keep makes one`
        : `the first moment in ${archive} is ${copies[0].finished_at}`,
    )
  const fill = async (folder: string, { uid, gid }: { uid?: number; gid?: number }) => {
    const give = async (path: string) => {
      if (uid !== undefined && gid !== undefined) await chown(path, uid, gid)
    }
    await unpackCopy(copy, folder, give)
    const signal = join(folder, 'recovery.signal')
    await writeFile(signal, '', { mode: 0o600 })
    await give(signal)
  }
  const settings = recoverySettings(archive, to === LATEST ? undefined : to)
  await recoverPostgres({ dataDir, settings, fill }).catch((error: unknown) => {
    if (error instanceof StartError && TOO_LATE.test(error.message))
      throw new StartError(`the archive ends before ${to}: choose an earlier moment, or ${LATEST}`)
    throw error
  })
}
