// A PostgreSQL as an operator runs it beside Sluice, with the system's programs, which the embedded package lacks.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, globSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { chooseOwner } from '../../src/ground/db/programs.ts'

const run = promisify(execFile)
const NEEDED = ['initdb', 'postgres', 'pg_dump', 'pg_restore', 'pg_basebackup']
/** Debian keeps them outside of the path. */
export const installedVersions: readonly { readonly major: number; readonly bin: string }[] = globSync(
  '/usr/lib/postgresql/*/bin',
)
  .map(folder => ({ major: Number(/(\d+)\/bin$/.exec(folder)?.[1]), bin: folder }))
  .filter(({ major, bin: folder }) => major >= 15 && NEEDED.every(name => existsSync(join(folder, name))))
  .toSorted((one, other) => one.major - other.major)
const bin = installedVersions.at(-1)?.bin

/** The reason to skip a test, or false. */
export const whyNoOwnPostgres: string | false =
  bin === undefined ? 'no PostgreSQL 15 or newer is installed (Debian: apt-get install postgresql)' : false

type OwnPostgres = {
  /** The DATABASE_URL of a database. */
  url(database: string): string
  connection(database: string): pg.ClientConfig
  stop(): Promise<void>
}

/** The user the server runs as, because root may not run it. */
const owner = chooseOwner('/nowhere')

/** Runs one of PostgreSQL's programs as its owner. */
export async function runProgram(name: string, ...given: string[]): Promise<void> {
  await runOf(bin, name, ...given)
}

async function runOf(folder: string | undefined, name: string, ...given: string[]): Promise<void> {
  await run(join(folder ?? '', name), given, { ...owner, cwd: '/' })
}

/** Makes a folder that PostgreSQL's owner may write. */
export function ownersFolder(path: string): string {
  mkdirSync(path, { mode: 0o700 })
  if (owner.uid !== undefined && owner.gid !== undefined) chownSync(path, owner.uid, owner.gid)
  return path
}

/** Initializes a cluster with the programs in `programs`, by default of the newest installed version. */
export async function createOwnCluster(folder: string, programs = bin): Promise<void> {
  await runOf(programs, 'initdb', '-D', folder, '-U', 'sluice', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync')
}

/** Starts the server of `folder`, with its socket beside it; resolves when it accepts connections and writes. */
export async function startOwnPostgres(
  folder: string,
  settings: readonly string[],
  programs = bin,
): Promise<OwnPostgres> {
  const host = dirname(folder)
  const given = ['listen_addresses=', `unix_socket_directories=${host}`, ...settings].flatMap(one => ['-c', one])
  const child = spawn(join(programs ?? '', 'postgres'), ['-D', folder, ...given], {
    ...owner,
    cwd: '/',
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  const connection = (database: string) => ({ host, port: 5432, user: 'sluice', database })
  for (const deadline = performance.now() + 60_000; ; ) {
    const client = new pg.Client(connection('postgres'))
    client.on('error', () => {})
    const isUp = await client
      .connect()
      .then(() => client.query<{ is: boolean }>('select not pg_is_in_recovery() as is'))
      .then(
        ({ rows }) => rows[0]?.is === true,
        () => false,
      )
    await client.end().catch(() => {})
    if (isUp) break
    if (child.exitCode !== null || performance.now() > deadline)
      throw new Error(`PostgreSQL did not start on ${folder}`)
    await sleep(50)
  }
  return {
    connection,
    url: database => `postgres://sluice@localhost/${database}?host=${encodeURIComponent(host)}`,
    async stop() {
      child.kill('SIGINT')
      await ended
    },
  }
}
