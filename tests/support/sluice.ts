// Sluice as a separate process, started as an operator starts it.
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { START_FLAGS } from '../../scripts/start-flags.ts'

export const MAIN_FILE = join(import.meta.dirname, '../../src/main.ts')

/** A running process: its address, and functions that end it. */
export type Sluice = {
  child: ChildProcess
  address: string
  /** Shuts it down cleanly and returns its exit code. */
  stop(): Promise<number | null>
  /** Kills it, as a power cut would. */
  kill(): Promise<void>
}

/** The exit code and output of a process that ended by itself. */
type Ended = { code: number | null; stdout: string; stderr: string }

/** `stderr` is an open file for the log, instead of a pipe; `socket` a descriptor to pass on, as systemd does; `main` the program of another version. */
export type SluiceOptions = {
  uid?: number
  gid?: number
  command?: string
  given?: string[]
  stderr?: number
  main?: string
  socket?: number
}

/** A shell prints its process id and then becomes Node, because only the process itself knows the id. */
const HANDED_ON = ['-c', 'LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=plain exec "$@"', 'sh']

/** With the test's settings only, plus the path, and Node's compile cache, which saves half a second per start. */
function launch(
  env: Record<string, string>,
  { command, given = [], stderr, socket, main = MAIN_FILE, ...who }: SluiceOptions = {},
): ChildProcess {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env
  const cached = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }
  const words = [...START_FLAGS, main, ...(command === undefined ? [] : [command, ...given])]
  const stdio: StdioOptions = ['ignore', 'pipe', stderr ?? 'pipe', ...(socket === undefined ? [] : [socket])]
  const settings = {
    ...who,
    env: {
      PATH,
      ...cached,
      PORT: '0',
      LOG_LEVEL: 'warn',
      FX_SOURCES: 'off',
      // Tests would write it thousands of times.
      JOURNAL_RESERVE_MB: '0',
      TELEGRAM_API_ROOT: 'http://127.0.0.1:9',
      ...env,
    },
    stdio,
  }
  if (socket === undefined) return spawn(process.execPath, words, settings)
  return spawn('sh', [...HANDED_ON, process.execPath, ...words], settings)
}

/** Runs Sluice until it exits by itself. */
export async function runSluice(env: Record<string, string>, options?: SluiceOptions): Promise<Ended> {
  const child = launch(env, options)
  const [stdout, stderr] = await Promise.all([read(child.stdout), read(child.stderr), once(child, 'close')])
  return { code: child.exitCode, stdout, stderr }
}

const read = (stream: ChildProcess['stdout']): Promise<string> => (stream ? text(stream) : Promise.resolve(''))

/** Starts Sluice and resolves once it prints its address. Rejects with its output if it ends before. */
export async function startSluice(env: Record<string, string>, options?: SluiceOptions): Promise<Sluice> {
  const child = launch(env, options)
  const closed = once(child, 'close')
  let said = ''
  const address = await new Promise<string>((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      said += chunk.toString()
      const found = /^Sluice is open at (.+)$/m.exec(said)?.[1]
      if (found !== undefined) resolve(found)
    }
    child.stdout?.on('data', hear)
    child.stderr?.on('data', hear)
    child.once('close', code => reject(new Error(`Sluice ended with ${code}: ${said}`)))
  })
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    child.kill(signal)
    await closed
    return child.exitCode
  }
  return { child, address, stop: () => end('SIGTERM'), kill: async () => void (await end('SIGKILL')) }
}

/** The process id of the embedded PostgreSQL of `dataDir`. */
export const postmasterOf = (dataDir: string): number =>
  Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n', 1)[0])

/** The resident memory of a process in bytes. */
export const residentBytes = ({ child }: Sluice): number =>
  1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1])

/** How many files, pipes and sockets a running process has open, without connections from its callers. */
export function handlesOf({ child, address }: { child: Pick<ChildProcess, 'pid'>; address: string }): number {
  const port = Number(new URL(address).port).toString(16).toUpperCase().padStart(4, '0')
  const callers = new Set<string>()
  for (const file of ['tcp', 'tcp6'])
    for (const line of readFileSync(`/proc/${child.pid}/net/${file}`, 'utf8').split('\n')) {
      const [, own, , , , , , , , inode] = line.trim().split(/\s+/)
      if (own?.endsWith(`:${port}`)) callers.add(`socket:[${inode}]`)
    }
  const open = readdirSync(`/proc/${child.pid}/fd`).map(fd => {
    try {
      return readlinkSync(`/proc/${child.pid}/fd/${fd}`)
    } catch {
      // It was closed during the count.
      return undefined
    }
  })
  return open.filter(name => name !== undefined && !callers.has(name)).length
}
