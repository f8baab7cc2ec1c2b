// The files of the embedded server: created once, checked at each start.
import { execFile } from 'node:child_process'
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { isRunning } from '../is-running.ts'
import { StartError } from '../start-error.ts'
import { type Owner, type Programs, userName } from './programs.ts'

const run = promisify(execFile)

/**
 * Creates DATA_DIR if it is missing.
 * @throws StartError when it cannot be used, or its cluster belongs to someone else.
 */
export function prepareFolder(dataDir: string, root: string): void {
  try {
    makeFolder(dataDir)
    const uid = statSync(root, { throwIfNoEntry: false })?.uid
    const me = process.getuid?.()
    if (me === 0 || uid === undefined || uid === me) return
    throw new StartError(
      `${root} belongs to ${userName(uid)}: start Sluice as that user, or set DATA_DIR to another folder`,
    )
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(
      `DATA_DIR ${dataDir} cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

/** Node's recursive `mkdir` never ends where no folder can be made, such as below /proc. */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  mkdirSync(path, { mode: 0o700 })
}

/** Creates the cluster at the first start, under another name that is renamed when complete: none is left half-made, and two starts cannot collide. */
export async function createCluster(root: string, owner: Owner, programs: Programs): Promise<void> {
  for (const name of readdirSync(dirname(root))) {
    const pid = /^postgres\.(\d+)\.\w+$/.exec(name)?.[1]
    if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(dirname(root), name), { recursive: true })
  }
  const fresh = makeFreshFolder(root, owner)
  // Every commit waits while a new segment is filled with zeros: 15 to 100 ms at the usual 16 MB, a few at 2 MB.
  const how =
    '-U sluice -A trust -E UTF8 --locale=C --locale-provider=builtin --builtin-locale=C.UTF-8 --wal-segsize=2 --no-instructions'
  try {
    await run(join(programs.bin, 'initdb'), ['-D', '/proc/self/cwd', ...how.split(' ')], {
      ...owner,
      cwd: fresh,
      env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' },
    })
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true })
    const why = error instanceof Error ? error.message.trim().replaceAll('\n', ' ') : String(error)
    throw new StartError(`PostgreSQL could not make its files in ${dirname(root)}: ${why}`)
  }
  try {
    renameSync(fresh, root)
  } catch {
    rmSync(fresh, { recursive: true })
    if (!existsSync(join(root, 'PG_VERSION'))) {
      throw new StartError(
        `${root} holds files that are no PostgreSQL cluster: move them, or set DATA_DIR to another folder`,
      )
    }
  }
}

/** Creates an empty folder for a cluster that is still to be made, beside its place. If this process dies, the next start removes it. */
export function makeFreshFolder(root: string, owner: Owner): string {
  try {
    const fresh = mkdtempSync(`${root}.${process.pid}.`)
    if (owner.uid !== undefined && owner.gid !== undefined) chownSync(fresh, owner.uid, owner.gid)
    return fresh
  } catch (error) {
    throw new StartError(`DATA_DIR cannot be written: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** @throws StartError when another major version of PostgreSQL has made the cluster. */
export function checkVersion(root: string, { major }: Programs): void {
  const found = readFileSync(join(root, 'PG_VERSION'), 'utf8').trim()
  if (found === major) return
  throw new StartError(
    `${root} was made by PostgreSQL ${found}, this version of Sluice brings ${major}: dump it with the version that made it`,
  )
}
