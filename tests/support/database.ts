// A real, migrated PostgreSQL database for each test file. `npm test` starts one server for the whole run; a file run by
// hand shares one server per user, which ends a minute after its last test.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, lstatSync, mkdirSync, openSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { pino } from 'pino'
import { MINUTE_MS } from '../../src/contract/days.ts'
import { connect, type Database, type Node } from '../../src/ground/db/connect.ts'
import { isUnreachable } from '../../src/ground/db/faults.ts'
import './sent-sql.ts'
import { addressesOf, createSharded, dropSharded, isSharded, settingsOf } from './sharded.ts'
import { ensureTemplate } from './template.ts'

/** Long enough for a busy machine. Sluice gives up the statements of requests after five seconds; tests of that cancel them themselves. */
const REQUEST_MS = 50_000

/** The variable with the folder of the server that `tests/run.ts` started. */
export const CLUSTER = 'SLUICE_TEST_CLUSTER'

/**
 * A database for one test file: `connection` for a client or a child process, `nodes` for the pools of another process. `drop` closes its pools and
 * deletes it.
 */
export type FreshDatabase = {
  database: Database
  connection: pg.ClientConfig
  nodes: readonly Node[]
  url: string
  drop(): Promise<void>
}

/** The connection to the server whose keeper has `folder`. */
export const connectionTo = (folder: string): pg.ClientConfig => ({
  host: join(folder, 'postgres'),
  port: 5432,
  user: 'sluice',
  database: 'postgres',
})

/** Starts a keeper for `folder` as an independent process. `--remove` deletes the folder at its end. */
export function startKeeper(folder: string, ...flags: '--remove'[]) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // Into a file: a pipe that the keeper holds open would keep the test runner waiting.
  const log = openSync(join(folder, 'keeper.log'), 'a')
  const child = spawn(process.execPath, [join(import.meta.dirname, 'keeper.ts'), folder, ...flags], {
    stdio: ['ignore', log, log],
    detached: true,
  })
  closeSync(log)
  child.unref()
  return child
}

/** A client of the server's maintenance database, once the server is up. */
export async function reach(folder: string, start: () => ReturnType<typeof startKeeper>): Promise<pg.Client> {
  let keeper: ReturnType<typeof startKeeper> | undefined
  const deadline = Date.now() + 30_000
  for (;;) {
    const client = new pg.Client(connectionTo(folder))
    client.on('error', () => {})
    try {
      await client.connect()
      return client
    } catch (error) {
      if (Date.now() > deadline) throw error
      if (keeper === undefined || keeper.exitCode !== null) keeper = start()
      await sleep(25)
    }
  }
}

function privateFolder(): string {
  const folder = join(tmpdir(), `sluice-tests-${userInfo().uid}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { uid, mode } = lstatSync(folder)
  if (uid !== userInfo().uid || (mode & 0o077) !== 0) throw new Error(`${folder} is not this user's own: remove it`)
  return folder
}

/** The connection on which this process creates and drops its databases. It does not keep the process running. */
type Admin = { readonly template: string; readonly pool: pg.Pool }
const admins = new Map<string, Promise<Admin>>()

function adminOf(folder: string): Promise<Admin> {
  const known = admins.get(folder)
  if (known !== undefined) return known
  const opened = openAdmin(folder)
  admins.set(folder, opened)
  opened.catch(() => admins.delete(folder))
  return opened
}

async function openAdmin(folder: string): Promise<Admin> {
  const client = await reach(folder, () => startKeeper(folder))
  const pool = new pg.Pool({ ...connectionTo(folder), max: 1, idleTimeoutMillis: MINUTE_MS, allowExitOnIdle: true })
  pool.on('error', () => {})
  try {
    return { template: await ensureTemplate(client, connectionTo(folder)), pool }
  } finally {
    await client.end().catch(() => {})
  }
}

/** Clones the migrated template in about 50 ms. Call `drop` at the end, or use `useDatabase`. */
export async function freshDatabase(): Promise<FreshDatabase> {
  const name = `t_${process.pid}_${randomBytes(4).toString('hex')}`
  if (isSharded) return freshSharded(name)
  const folder = process.env[CLUSTER] ?? privateFolder()
  for (;;) {
    try {
      const { template, pool } = await adminOf(folder)
      await pool.query(`create database ${name} template ${template} strategy file_copy`)
      break
    } catch (error) {
      // The shared server may just have ended for lack of connections; the next turn starts it again.
      if (!isUnreachable(error)) throw error
      admins.delete(folder)
    }
  }
  const connection = { ...connectionTo(folder), database: name }
  // On a busy machine a connection may take longer than Sluice would wait.
  const database = connect([{ ...connection, connectionTimeoutMillis: 20_000 }], {
    log: pino({ level: 'silent' }),
    request_ms: REQUEST_MS,
    isBehind: false,
  })
  const drop = async () => {
    await database.close()
    const { pool } = await adminOf(folder)
    await pool.query(`drop database if exists ${name} with (force)`)
  }
  const url = `postgres://sluice@localhost/${name}?host=${encodeURIComponent(join(folder, 'postgres'))}`
  return { database, connection, nodes: [connection], url, drop }
}

/** The same on a cluster: `connection` is of its first node, `url` has all nodes. */
async function freshSharded(name: string): Promise<FreshDatabase> {
  await createSharded(name)
  const addresses = addressesOf(name)
  const database = connect(addresses, { log: pino({ level: 'silent' }), request_ms: REQUEST_MS })
  const drop = async () => {
    await database.close()
    await dropSharded(name)
  }
  const connection = settingsOf(addresses[0] ?? '')
  return { database, connection, nodes: addresses, url: addresses.join(','), drop }
}

/**
 * A fresh database for all tests of a file, dropped at its end: `const ground = await useDatabase()` at the top level, not
 * in a `before`, because the hooks of a file do not wait for each other.
 */
export async function useDatabase(): Promise<FreshDatabase> {
  const fresh = await freshDatabase()
  after(() => fresh.drop())
  return fresh
}
