// `npm run demo`: fills an organization with 90 days of realistic traffic and prints how to use it. Other organizations are not
// changed. A second run fills nothing and prints the lines again, with a new password and a new key.
import { pino } from 'pino'
import { type Config, readConfig } from '../src/ground/config.ts'
import { connect, type Database } from '../src/ground/db/connect.ts'
import { startPostgres } from '../src/ground/db/embedded.ts'
import { migrateNodes, type Nodes, openNodes } from '../src/ground/db/nodes.ts'
import { openSecrets } from '../src/ground/db/secrets.ts'
import { StartError } from '../src/ground/start-error.ts'
import { type Answering, linesOf } from './lines.ts'
import { prepareDemo } from './prepare.ts'

const SEED = 'sluice'
const PROBE_MS = 1500

const log = pino({ level: 'warn', base: {} }, pino.destination(2))

/** The database of a Sluice that may be running: its server is shared, and stopped afterwards only if it was started here. */
async function shareNodes(config: Config): Promise<Nodes> {
  if (config.databaseUrl.length > 0) return openNodes(config, log)
  const embedded = await startPostgres({ dataDir: config.dataDir, archiveDir: config.archiveDir, log, alone: false })
  return { addresses: [embedded.connection], close: () => embedded.stop() }
}

const addressOf = ({ baseUrl, host, port }: Config): string => {
  if (baseUrl !== undefined) return baseUrl
  const name = ['127.0.0.1', '0.0.0.0', '::', '::1', 'localhost'].includes(host) ? 'localhost' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

/** Longer than the largest insert takes on a cluster. */
const PATIENCE_MS = 120_000

/** Whether a Sluice with the demo's database answers there, another one, or nothing. Only the first accepts the new key. */
async function whoAnswers(address: string, secret: string): Promise<Answering> {
  const signal = AbortSignal.timeout(PROBE_MS)
  try {
    const { ok, status } = await fetch(`${address}/api/v1/clicks?limit=1`, { headers: { 'x-api-key': secret }, signal })
    return ok ? 'this' : status === 401 ? 'another' : 'nobody'
  } catch {
    return 'nobody'
  }
}

/** The `npm start` command, with the settings for the same data and address. */
function startOf(env: NodeJS.ProcessEnv): string {
  const set = ['DATA_DIR', 'DATABASE_URL', 'PORT', 'HOST', 'BASE_URL'].filter(name => env[name])
  return [...set.map(name => (name === 'DATABASE_URL' ? 'DATABASE_URL=…' : `${name}=${env[name]}`)), 'npm start'].join(
    ' ',
  )
}

async function run(): Promise<void> {
  await using open = new AsyncDisposableStack()
  const config = readConfig(process.env)
  const nodes = await shareNodes(config)
  open.defer(() => nodes.close())
  await migrateNodes(nodes)
  const database: Database = connect(nodes.addresses, { log, name: 'sluice demo', patience_ms: PATIENCE_MS })
  open.defer(() => database.close())
  const db = database.kysely
  const secrets = await openSecrets(config, db)
  const now = Date.now()
  const demo = await prepareDemo({ config, database, db, log, secrets }, { seed: SEED, now })
  const address = addressOf(config)
  const answering = await whoAnswers(address, demo.key.secret)
  console.log(linesOf({ ...demo, address, answering, start: startOf(process.env), now }))
}

try {
  await run()
} catch (error) {
  console.error(error instanceof StartError ? `The demo cannot start: ${error.message}` : error)
  process.exitCode = 1
}
process.exit()
