// The ground of the bench: its own data folder with the embedded PostgreSQL as `npm start` runs it, and servers on it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { pino } from 'pino'
import { START_FLAGS } from '../scripts/start-flags.ts'
import { type Config, readConfig } from '../src/ground/config.ts'
import { connect, type Database } from '../src/ground/db/connect.ts'
import { migrateNodes, openNodes } from '../src/ground/db/nodes.ts'
import { openSecrets, type Secrets } from '../src/ground/db/secrets.ts'
import { type Child, startServer } from './children.ts'

export type BenchGround = {
  dataDir: string
  connection: pg.ClientConfig
  config: Config
  database: Database
  secrets: Secrets
  /** Starts a server, with `ALLOW_PRIVATE_TARGETS` so that its postbacks reach the bench, and with quotas that are never reached. */
  serve(role?: 'all' | 'serve', settings?: Record<string, string>): Promise<Child>
  /** Stops PostgreSQL and keeps the folder, to measure a start on it. */
  rest(): Promise<void>
  /** Ends everything and removes the folder. */
  close(): Promise<void>
}

const log = pino({ level: 'warn', base: {} }, pino.destination(2))

/** Opens a new data folder. With `profileDir` each server writes a CPU profile there when it ends. */
export async function openGround(profileDir?: string): Promise<BenchGround> {
  const dataDir = mkdtempSync(join(tmpdir(), `sluice-bench-${process.pid}-`))
  const config = readConfig({ DATA_DIR: dataDir })
  const nodes = await openNodes(config, log)
  const connection = nodes.addresses[0] as pg.ClientConfig
  await migrateNodes(nodes)
  const database = connect(nodes.addresses, { log, name: 'bench' })
  const secrets = await openSecrets(config, database.kysely)
  let isResting = false
  const rest = async () => {
    if (isResting) return
    isResting = true
    await database.close()
    await nodes.close()
  }
  const env = {
    DATA_DIR: dataDir,
    DATABASE_URL: `postgres://sluice@localhost/postgres?host=${encodeURIComponent(connection.host ?? '')}`,
    PORT: '0',
    LOG_LEVEL: 'warn',
    TRUST_PROXY: '127.0.0.1',
    ALLOW_PRIVATE_TARGETS: 'true',
  }
  const execArgv = [...START_FLAGS, ...(profileDir === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', profileDir])]
  return {
    dataDir,
    connection,
    config,
    database,
    secrets,
    serve: (role = 'all', settings = {}) =>
      startServer('server.ts', { env: { ...env, ROLE: role, ...settings }, execArgv }),
    rest,
    async close() {
      await rest()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
