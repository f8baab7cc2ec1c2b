// The connections of one process. Each kind of work has its own pool, so that none can starve another: a hundred slow reports do not block
// conversions. There are at most 37 connections, plus one that listens; see `Database`. The process that keeps Explore's segments opens five more.
// On a cluster the 37 are distributed over its nodes, one listens on each node, and one more goes to the first node for schema changes.
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Logger } from 'pino'
import { MINUTE_MS } from '../../contract/days.ts'
import { BEHIND, runBehind } from '../priority.ts'
import { type Absence, openAbsence } from './absence.ts'
import { clientOf, openAddresses, retryOnOtherNodes } from './addresses.ts'
import { measurePools } from './pool-metrics.ts'
import { Prepared } from './prepared.ts'
import { logSlowQueries } from './slow-queries.ts'
import type { Tables } from './tables.ts'

/** The pools of one process, one for each kind of work. Ids, times and amounts are text: see `types` below. */
export type Database = {
  /** Plain reads and writes through the builder or the `sql` template. Up to 6 connections, a statement may take 5 s. */
  kysely: Kysely<Tables>
  /** Feed, reports and lists by SQL text. Up to 8 connections, a statement may take 5 s. */
  reads: pg.Pool
  /**
   * Keys and grants at every call: up to 2 connections, pipelined, with named statements that are planned once for all values. On a cluster such a
   * statement can read one organization's table, by its key; other statements go through `reads`.
   */
  keys: pg.Pool
  /** The batches of clicks: up to 3 connections, pipelined and prepared. They give up after 2 s, and the clicks go to the journal. */
  clicks: pg.Pool
  /** The transactions of conversions: up to 10 connections, pipelined and prepared; a transaction lives 4 s at most. */
  intake: pg.Pool
  /**
   * Deliveries, folding and housekeeping: up to 4 connections, pipelined and prepared; a statement may take 30 s. On the embedded server
   * they run at a lower priority than all others.
   */
  worker: pg.Pool
  /** For better-auth alone, which compares Date objects: up to 4 connections with node-postgres's own parsers. */
  auth: pg.Pool
  /** For statements that create and drop tables. On a cluster they go to the first node; else this is `kysely`. */
  schema: Kysely<Tables>
  /** When the database was last away. Lost connections are noted automatically. */
  readonly away: Absence
  /** A new connection for LISTEN, outside the pools. The caller handles its errors and closes it. `node` is below `nodes`. */
  dedicated(node?: number): pg.Client
  readonly nodes: number
  /** Whether background work has a low priority, as it has outside of tests. */
  readonly isBehind: boolean
  /** The nodes, for another process to connect to. */
  readonly addresses: readonly Node[]
  /** Waits for running statements, then closes every pool. */
  close(): Promise<void>
}

const { builtins } = pg.types
const TEXT_ARRAY = 1009
/** Arrays of date, timestamp, timestamptz and numeric, which node-postgres would turn into Date objects and floats. */
const arraysAsText = new Set([1182, 1115, 1185, 1231])
const asText = new Set<number>([
  builtins.TIMESTAMPTZ,
  builtins.TIMESTAMP,
  builtins.DATE,
  builtins.NUMERIC,
  builtins.INT8,
])

/** Set per pool, not globally: with times as text, better-auth's sessions would never expire. */
const getTypeParser = ((oid: number, format: 'text') => {
  if (asText.has(oid)) return String
  return pg.types.getTypeParser(arraysAsText.has(oid) ? TEXT_ARRAY : oid, format)
}) as typeof pg.types.getTypeParser
const types = { getTypeParser }

type Limits = Pick<
  pg.PoolConfig,
  | 'max'
  | 'min'
  | 'statement_timeout'
  | 'lock_timeout'
  | 'query_timeout'
  | 'idle_in_transaction_session_timeout'
  | 'pipeline'
  | 'types'
>

const pipelinedAndText = { pipeline: true, types }
/** `query_timeout` is measured by this process, so that it also ends the wait for a database that hangs. */
const limits = {
  kysely: { max: 6, types, statement_timeout: 5000, query_timeout: 8000 },
  reads: { max: 8, types, statement_timeout: 5000, query_timeout: 8000 },
  keys: { max: 2, min: 1, ...pipelinedAndText, statement_timeout: 2000, query_timeout: 3000 },
  clicks: { max: 3, min: 1, ...pipelinedAndText, lock_timeout: 1000, statement_timeout: 2000, query_timeout: 2000 },
  intake: { max: 10, min: 1, ...pipelinedAndText, lock_timeout: 2000, statement_timeout: 4000, query_timeout: 5000 },
  worker: { max: 4, ...pipelinedAndText, statement_timeout: 30_000, query_timeout: 35_000 },
  auth: { max: 4, statement_timeout: 5000, query_timeout: 8000 },
  schema: { max: 1, types, statement_timeout: 30_000, query_timeout: 35_000 },
} satisfies Record<string, Limits>

/** The pools whose statements belong to one request each. Those of clicks and conversions have batches, those of the worker have none. */
const OF_REQUESTS: readonly string[] = ['kysely', 'reads', 'auth']

const limitsOf = (kind: keyof typeof limits, patience_ms: number | undefined): Limits => ({
  idle_in_transaction_session_timeout: 10_000,
  ...limits[kind],
  ...(patience_ms !== undefined && { statement_timeout: patience_ms, query_timeout: patience_ms }),
})

/** The driver sets `processID` on a connection, but its types lack it. */
type ConnectedClient = pg.PoolClient & { processID: number }

/** One node of the database: a connection string, or the settings the embedded server hands out. */
export type Node = string | pg.ClientConfig

/** Adds the options of every session to those that the operator may have put into the address. */
function withSession(node: Node, application: string): pg.ClientConfig {
  const session = '-c timezone=UTC'
  const own = { application_name: application, keepAlive: true, connectionTimeoutMillis: 2000 }
  if (typeof node !== 'string') return { ...own, ...node, options: [node.options ?? '', session].join(' ').trim() }
  const [address = node, query = ''] = node.split('?', 2)
  const parameters = new URLSearchParams(query)
  const options = [parameters.get('options') ?? '', session].join(' ').trim()
  parameters.delete('options')
  // Spaces become %20, because the driver's parser does not decode a plus sign.
  const rest = [...parameters, ['options', options]].map(pair => pair.map(encodeURIComponent).join('=')).join('&')
  return { ...own, connectionString: `${address}?${rest}` }
}

type ConnectOptions = {
  readonly log: Logger
  readonly name?: string
  readonly slow_ms?: number
  /** The time that a statement of any pool may take, instead of the limits above, for a program that nobody waits for. */
  readonly patience_ms?: number
  /** The same for the pools of requests alone, `patience_ms` by default: tests on a busy machine need more than five seconds. */
  readonly request_ms?: number
  /** False in tests, which wait for background work: then neither connections to the embedded server nor child processes get a low priority. */
  readonly isBehind?: boolean
}

/** Long enough to cost nothing, short enough that a node that is back soon gets its share of connections again. */
const LIFE_S = 300

/** The name of a node for monitoring, without user and password. */
function nameOf(node: Node): string {
  if (typeof node !== 'string') return `${node.host ?? 'localhost'}:${node.port ?? 5432}`
  const url = URL.parse(node)
  return `${url?.searchParams.get('host') ?? url?.hostname ?? 'localhost'}:${url?.port || 5432}`
}

/** Visitors wait for a click's commit, and nobody waits for folding, which takes a processor for 0.1 s. */
function putBehind(pool: pg.Pool): void {
  pool.on('connect', client => runBehind((client as ConnectedClient).processID, BEHIND))
}

/**
 * Opens the pools; no connection is made until the first statement. `nodes` are the nodes of one database, and the pools use all of them. The first
 * one changes the schema. Statements of requests that take `slow_ms` are logged; 0 for none.
 */
export function connect(nodes: readonly Node[], options: ConnectOptions): Database {
  const { log, name = 'sluice', slow_ms = 0, patience_ms, request_ms = patience_ms, isBehind = true } = options
  let closing = false
  const away = openAbsence()
  const addresses = openAddresses(nodes.map(nameOf))
  const open = (kind: keyof typeof limits, among = addresses): pg.Pool => {
    const { pipeline = false, ...rest } = limitsOf(kind, OF_REQUESTS.includes(kind) ? request_ms : patience_ms)
    const Client = clientOf(
      nodes.map(node => withSession(node, `${name} ${kind}`)),
      among,
      pipeline ? Prepared : pg.Client,
    )
    const pool = new pg.Pool({
      idleTimeoutMillis: MINUTE_MS,
      ...(nodes.length > 1 && { maxLifetimeSeconds: LIFE_S }),
      pipeline,
      ...rest,
      Client,
    })
    // An idle client emits errors on the pool, a checked-out one only on itself. Without listeners, either would end the process.
    pool.on('error', error => {
      if (!closing) log.warn({ err: error, pool: kind }, 'a database connection was lost')
    })
    pool.on('connect', client => client.on('error', () => away.note()))
    if (slow_ms > 0 && OF_REQUESTS.includes(kind)) logSlowQueries(pool, kind, slow_ms, log)
    if (isBehind && kind === 'worker' && nodes.every(node => typeof node !== 'string')) putBehind(pool)
    if (among === addresses && nodes.length > 1) retryOnOtherNodes(pool, nodes.length)
    return pool
  }
  const pools = {
    reads: open('reads'),
    keys: open('keys'),
    clicks: open('clicks'),
    intake: open('intake'),
    worker: open('worker'),
    auth: open('auth'),
  }
  const built = (pool: pg.Pool) => new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  const general = open('kysely')
  const kysely = built(general)
  const unmeasure = measurePools({ ...pools, kysely: general })
  const first = nodes.length > 1 ? { ...addresses, choose: () => 0 } : undefined
  const schema = first === undefined ? kysely : built(open('schema', first))
  return {
    ...pools,
    kysely,
    schema,
    away,
    nodes: nodes.length,
    isBehind,
    addresses: nodes,
    dedicated: (node = 0) => new pg.Client({ ...withSession(nodes[node] ?? '', `${name} listen`), types }),
    close: async () => {
      closing = true
      await Promise.all([...Object.values(pools).map(pool => pool.end()), kysely.destroy()])
      if (first !== undefined) await schema.destroy()
      addresses.close()
      unmeasure()
    },
  }
}
