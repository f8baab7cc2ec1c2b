// Finds, starts, cleans up after and stops the server of one cluster. Every decision follows the system's list of processes, so it also works after a
// `kill -9` of Sluice, of the server, or of both.
import { spawn } from 'node:child_process'
import {
  closeSync,
  constants,
  fchownSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isRunning } from '../is-running.ts'
import { StartError } from '../start-error.ts'
import type { Owner, Programs } from './programs.ts'

/** A cluster on disk: its folder, its log file, and the settings of its server. */
export type Cluster = { root: string; log: string; owner: Owner; programs: Programs; settings: readonly string[] }

type Postmaster = { pid: number; ready: boolean }

const SOCKET = '.s.PGSQL.5432'
const LARGEST_LOG_BYTES = 10_000_000

/** A mark in the command line of every process of this cluster. It names the folder itself, not a path to it. */
function markOf(root: string): string {
  const { dev, ino } = statSync(root)
  return `sluice-${dev}-${ino}`
}

/** Whether `pid` is a live process of the cluster. A zombie is not, although `kill(pid, 0)` finds it. */
function belongs(pid: number, mark: string): boolean {
  try {
    // Not /proc/<pid>/cwd, which root in a container may not read for another user's process.
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8')) && commandLine(pid).includes(mark)
  } catch {
    return false
  }
}

const commandLine = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, 'utf8')

const pidFile = (root: string): string[] => {
  try {
    return readFileSync(join(root, 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    return []
  }
}

/** The server that runs on the folder, or undefined. */
export function findPostmaster({ root }: Cluster): Postmaster | undefined {
  const [first, , , , , , , status] = pidFile(root)
  const pid = Number(first)
  return pid > 0 && belongs(pid, markOf(root)) ? { pid, ready: status?.trim() === 'ready' } : undefined
}

/** True if a server accepts connections at the socket, even one in another container, whose process cannot be seen. */
const answers = (host: string): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(join(host, SOCKET))
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })

/**
 * Prepares the folder of a dead server for a new start. Waits for the processes it left. Removes its pid and socket files if PostgreSQL would mistake
 * a zombie, or another process with the same number, for a live server.
 * @throws StartError if a server is alive that is not among this machine's processes.
 */
export async function clearDead({ root }: Cluster, host: string): Promise<void> {
  if (await answers(host)) {
    throw new StartError(
      `${root} is in use by a PostgreSQL server that this process cannot see, perhaps in another container`,
    )
  }
  const mark = markOf(root)
  const orphans = () => readdirSync('/proc').some(name => /^\d+$/.test(name) && belongs(Number(name), mark))
  for (let waited = 0; orphans() && waited < 5000; waited += 20) await sleep(20)
  const pid = Number(pidFile(root)[0])
  if (!(pid > 0) || !isRunning(pid) || belongs(pid, mark)) return
  for (const name of ['postmaster.pid', SOCKET, `${SOCKET}.lock`]) rmSync(join(root, name), { force: true })
}

/**
 * Starts the server and waits until it accepts connections, for as long as crash recovery takes. False if it ended because another server was first.
 * @throws StartError with the last lines of its log.
 */
export async function launch(cluster: Cluster): Promise<boolean> {
  const { root, log, owner, programs, settings } = cluster
  const settled = [`cluster_name=${markOf(root)}`, ...settings].flatMap(setting => ['-c', setting])
  const output = openLog(log, owner)
  // The process enters the folder as root and then changes its user, so that user needs no rights on the folders above.
  const child = spawn(join(programs.bin, 'postgres'), ['-D', '/proc/self/cwd', '-k', '.', '-p', '5432', ...settled], {
    ...owner,
    cwd: root,
    env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', output, output],
    detached: true,
  })
  closeSync(output)
  let ended: string | undefined
  child.once('error', error => (ended = error.message)).once('exit', (code, signal) => (ended ??= `${signal ?? code}`))
  child.unref()
  for (;;) {
    const running = findPostmaster(cluster)
    if (running?.ready && running.pid === child.pid) return true
    if (ended !== undefined && running !== undefined) return false
    if (ended !== undefined) throw new StartError(`PostgreSQL did not start (${ended}): ${lastWords(log)}; see ${log}`)
    await sleep(5)
  }
}

function openLog(path: string, { uid, gid }: Owner): number {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size > LARGEST_LOG_BYTES) renameSync(path, `${path}.1`)
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants
  // O_NOFOLLOW, so that root never changes the owner of a file that a link points to.
  const file = openSync(path, O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY, 0o600)
  if (uid !== undefined && gid !== undefined) fchownSync(file, uid, gid)
  return file
}

/** The last lines, or the fatal one among them, which other processes of the server may follow with theirs. */
const lastWords = (log: string): string => {
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-6)
  const fatal = lines.filter(line => /(FATAL|PANIC): /.test(line))
  return (fatal.length > 0 ? fatal : lines.slice(-3)).map(line => line.replace(/^.*?([A-Z]+: )/, '$1').trim()).join(' ')
}

/** Shuts the server down: it rolls open transactions back and writes everything to disk. */
export async function halt(cluster: Cluster): Promise<void> {
  const running = findPostmaster(cluster)
  if (!running) return
  const mark = markOf(cluster.root)
  process.kill(running.pid, 'SIGINT')
  for (let waited = 0; belongs(running.pid, mark); waited += 5) {
    if (waited === 30_000) process.kill(running.pid, 'SIGQUIT')
    await sleep(5)
  }
}
