// A test's own PostgreSQL with durable commits, which can be killed and frozen.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import { connect, type Database } from '../../src/ground/db/connect.ts'
import { startPostgres } from '../../src/ground/db/embedded.ts'
import { migrate } from '../../src/ground/db/migrate.ts'
import { postmasterOf } from './sluice.ts'

export type TestPostgres = {
  /** Its DATA_DIR. */
  folder: string
  database: Database
  url: string
  /** Ends it like a power cut; the process that started it restarts it. */
  crash(): void
  /** Kills one connection's process; PostgreSQL then ends all others and recovers. */
  killBackend(): void
  /** Stops all its processes until `thaw`. */
  freeze(): void
  thaw(): void
  end(): Promise<void>
}

type Places = {
  /** DATA_DIR of the server; a given one is kept at the end. */
  folder?: string
  /** The folder of its write-ahead log (`pg_wal`); by default inside the cluster. */
  walFolder?: string
}

/** For the test's own statements: recounts of long runs, on a busy machine. */
const PATIENCE_MS = 300_000

/** Starts it with Sluice's own settings, so that commits are durable. */
export async function startTestPostgres(places: Places = {}): Promise<TestPostgres> {
  const folder = places.folder ?? mkdtempSync(join(tmpdir(), 'sluice-postgres-'))
  const log = pino({ level: 'silent' })
  if (places.walFolder !== undefined) await moveWal(folder, places.walFolder)
  const server = await startPostgres({ dataDir: folder, log })
  const client = new pg.Client(server.connection)
  await client.connect()
  await migrate(client)
  await client.end()
  const database = connect([server.connection], { log, patience_ms: PATIENCE_MS, isBehind: false })
  const postmaster = () => postmasterOf(folder)
  const frozen = new Set<number>()
  return {
    folder,
    database,
    url: urlOf(folder),
    crash: () => void process.kill(postmaster(), 'SIGQUIT'),
    killBackend() {
      const backends = childrenOf(postmaster()).filter(child => titleOf(child).includes(' [local] '))
      const backend = backends[Math.floor(Math.random() * backends.length)]
      if (backend !== undefined) process.kill(backend, 'SIGKILL')
    },
    freeze() {
      const parent = postmaster()
      // The parent first, so that it starts no child meanwhile.
      for (const pid of [parent, ...childrenOf(parent)]) {
        process.kill(pid, 'SIGSTOP')
        frozen.add(pid)
      }
    },
    thaw() {
      for (const pid of frozen) process.kill(pid, 'SIGCONT')
      frozen.clear()
    },
    async end() {
      for (const pid of frozen) process.kill(pid, 'SIGCONT')
      await database.close()
      await server.stop()
      if (places.folder === undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Makes the cluster and moves its write-ahead log, as operators do to give it its own disk. */
async function moveWal(folder: string, walFolder: string): Promise<void> {
  const server = await startPostgres({ dataDir: folder, log: pino({ level: 'silent' }) })
  await server.stop()
  const wal = join(folder, 'postgres/pg_wal')
  const [from, to] = [wal, join(walFolder, 'pg_wal')]
  // A copy by Node would lose the owner of the files.
  execFileSync('cp', ['-a', from, to])
  rmSync(from, { recursive: true })
  symlinkSync(to, wal)
}

/** The address of the server of `dataDir`. */
const urlOf = (dataDir: string) =>
  `postgres://sluice@localhost/postgres?host=${encodeURIComponent(join(dataDir, 'postgres'))}`

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
    .filter(pid => parentOf(pid) === parent)
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(/^\d+ \(.*\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1])
  } catch {
    return undefined
  }
}

/** The title of one of its processes: `postgres: sluice postgres [local] idle`. */
function titleOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
