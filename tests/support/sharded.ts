// Databases on the nodes of a Citus cluster (`npm run test:citus`): copies of a migrated and distributed one, node by node, which take a second
// each instead of half a minute.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { migrate } from '../../src/ground/db/migrate.ts'
import { templateName } from './template.ts'

/** The addresses of the nodes' maintenance databases, separated by commas, the coordinator's first. */
export const NODES = 'SLUICE_TEST_NODES'

const LOCK = 7_583_004
const nodes = (process.env[NODES] ?? '').split(',').filter(address => address !== '')

/** Whether tests run on a cluster. */
export const isSharded = nodes.length > 0

/** The addresses of a database of that name. */
export const addressesOf = (name: string): string[] =>
  nodes.map(node => {
    const url = new URL(node)
    url.pathname = `/${name}`
    return url.href
  })

/** An address as client settings. */
export function settingsOf(address: string): pg.ClientConfig {
  const { hostname, port, username, password, pathname } = new URL(address)
  const settings = { host: hostname, port: Number(port || 5432), user: username, database: pathname.slice(1) }
  return password === '' ? settings : { ...settings, password }
}

/** Makes a database of that name on every node, with all tables distributed. */
export async function createSharded(name: string): Promise<void> {
  const template = `sharded_${templateName()}`
  await onNode(nodes[0] ?? '', async first => {
    await first.query('select pg_advisory_lock($1)', [LOCK])
    const { rowCount } = await first.query('select 1 from pg_database where datname = $1', [template])
    if (rowCount === 0) await makeTemplate(template)
    await first.query('select pg_advisory_unlock($1)', [LOCK])
  })
  await onNodes(client => client.query(`create database ${name} template ${template} strategy file_copy`))
}

/** Removes it from every node. */
export async function dropSharded(name: string): Promise<void> {
  await onNodes(client => client.query(`drop database if exists ${name} with (force)`))
}

async function makeTemplate(name: string): Promise<void> {
  const half = `${name}_half`
  await onNodes(client => client.query(`drop database if exists ${half} with (force)`))
  await onNodes(client => client.query(`create database ${half}`))
  const inside = addressesOf(half)
  for (const address of inside) await onNode(address, client => client.query('create extension citus'))
  await onNode(inside[0] ?? '', async client => {
    const [first, ...others] = inside.map(settingsOf)
    await client.query('select citus_set_coordinator_host($1, $2)', [first?.host, first?.port])
    for (const { host, port } of others) await client.query('select citus_add_node($1, $2)', [host, port])
    await migrate(client)
  })
  // The coordinator's last: its name marks the template as complete.
  for (const node of nodes.toReversed())
    await onNode(node, async client => {
      await client.query(`alter database ${half} allow_connections false`)
      await renamed(client, half, name)
    })
}

/** Citus keeps a process in each database, which must end first and not return. */
async function renamed(client: pg.Client, from: string, to: string): Promise<void> {
  for (let tried = 0; ; tried += 1) {
    await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [from])
    try {
      await client.query(`alter database ${from} rename to ${to}`)
      return
    } catch (error) {
      if (tried === 50) throw error
      await sleep(100)
    }
  }
}

async function onNodes(work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  await Promise.all(nodes.map(node => onNode(node, work)))
}

async function onNode(address: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client(address)
  client.on('error', () => {})
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}
