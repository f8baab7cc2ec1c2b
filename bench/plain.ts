// The reference for conversions: connections that each commit plain rows of 24 columns, one after another.
import pg from 'pg'
import { answerParent } from './answering.ts'

/** Returns the rows committed per second to the database of `connection`. */
export type PlainJob = { connection: pg.ClientConfig; connections: number; seconds: number }

const TEXTS = Array.from({ length: 20 }, (_, column) => `text_${column + 1}`)
const COLUMNS = ['org_id', 'id', 'amount', 'created_at', ...TEXTS]
const CREATE = `create table if not exists bench_plain (org_id integer not null, id uuid not null, amount numeric,
  created_at timestamptz, ${TEXTS.map(name => `${name} text`).join(', ')}, primary key (org_id, id))`
const INSERT = {
  name: 'plain',
  text: `insert into bench_plain (${COLUMNS.join(', ')}) values (${COLUMNS.map((_, at) => `$${at + 1}`).join(', ')})`,
}

async function insertPlainly({ connection, connections, seconds }: PlainJob): Promise<{ per_second: number }> {
  const clients = await Promise.all(Array.from({ length: connections }, () => open(connection)))
  const [first] = clients
  await first?.query(CREATE)
  const started = performance.now()
  const until = started + seconds * 1000
  const counts = await Promise.all(clients.map(client => insertUntil(client, until)))
  const per_second = (counts.reduce((sum, count) => sum + count, 0) * 1000) / (performance.now() - started)
  await Promise.all(clients.map(client => client.end()))
  return { per_second }
}

async function open(connection: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({ ...connection, application_name: 'bench plain' })
  await client.connect()
  return client
}

async function insertUntil(client: pg.Client, until: number): Promise<number> {
  const texts = TEXTS.map(name => `a value of ${name}`)
  let count = 0
  for (; performance.now() < until; count += 1)
    await client.query({ ...INSERT, values: [7, crypto.randomUUID(), '12.5', new Date().toISOString(), ...texts] })
  return count
}

answerParent(insertPlainly)
