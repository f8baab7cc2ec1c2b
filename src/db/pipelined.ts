// One transaction in one round trip: begin, the statements and commit leave together, and are answered together.
import { createHash } from 'node:crypto'
import pg from 'pg'
import { sqlState } from './faults.ts'

/** What a parameter may be. Objects are left out on purpose: pass them as JSON text. */
export type Value = string | number | bigint | boolean | null | Uint8Array | readonly Value[]

/** A statement with its parameters. */
export type Statement = { text: string; values?: readonly Value[] }

/**
 * Runs the statements as one transaction (`begin` may name an isolation level) and answers their results in order. All of
 * them are sent at once, so none can use the result of another.
 *
 * Given a pool, it takes a client and gives it back, destroyed where its connection is in doubt. Given a client (of a
 * pool with `pipeline: true`), the caller releases it; a broken one is destroyed by that release.
 * @throws the error of the first statement that failed; then nothing was stored. An error for which `isUnreachable` is
 *   true leaves it unknown whether the transaction was committed.
 */
export async function pipelined(
  on: pg.Pool | pg.Client,
  statements: readonly Statement[],
  begin = 'begin',
): Promise<pg.QueryResult[]> {
  if (!(on instanceof pg.Pool)) return settle(on, statements, begin)
  const client = await on.connect()
  try {
    const results = await settle(client, statements, begin)
    client.release()
    return results
  } catch (error) {
    client.release(sqlState(error) === undefined)
    throw error
  }
}

async function settle(client: pg.Client, statements: readonly Statement[], begin: string): Promise<pg.QueryResult[]> {
  const sent = [{ text: begin }, ...statements, { text: 'commit' }].map(({ text, values = [] }: Statement) => ({
    text,
    name: nameOf(text),
    // Here, before anything is sent: a value that cannot be written must not leave half a transaction on its way.
    values: values.map(prepareValue),
  }))
  try {
    const results = await new Promise<pg.QueryResult[]>((resolve, reject) => {
      client.query(new Transaction(sent, (error, all) => (error ? reject(error) : resolve(all))))
    })
    if (results.at(-1)?.command !== 'COMMIT') throw new Error('the transaction was rolled back')
    return results.slice(1, -1)
  } catch (error) {
    if (sqlState(error) !== undefined) await undo(client, sent)
    throw error
  }
}

type Sent = { readonly text: string; readonly name: string; readonly values: readonly unknown[] }

/** The driver's own writing of parameters, which its types leave out. */
const { prepareValue } = (pg as unknown as { utils: { prepareValue: (value: unknown) => unknown } }).utils

/** What each connection has parsed. Kept apart from the driver's list, because that knows one statement per query. */
const parsed = new WeakMap<pg.Connection, Set<string>>()

/** Every connection keeps what it has parsed for its whole life, so texts that vary without end must not all be named. */
const MOST_NAMES = 500
const names = new Map<string, string>()

function nameOf(text: string): string {
  const known = names.get(text)
  if (known !== undefined || names.size >= MOST_NAMES) return known ?? ''
  const name = `t${createHash('sha1').update(text).digest('hex')}`
  names.set(text, name)
  return name
}

/** The server has skipped all that came behind an error: the commit, and what was to be parsed. */
async function undo(client: pg.Client, sent: readonly Sent[]): Promise<void> {
  const known = parsed.get(client.connection)
  for (const { name } of sent) {
    // Closing what was never parsed is no error, so nobody has to know how far the server came.
    if (known?.delete(name)) client.connection.close({ type: 'S', name }, true)
  }
  await client.query('rollback')
}

type Settled = (error: Error | undefined, results: pg.QueryResult[]) => void

/**
 * All statements under a single Sync. The driver would send one behind each, and the server answers, and is woken, once
 * for each of them: half of a small batch's time. To the driver this is one query with several results.
 */
class Transaction extends pg.Query {
  constructor(statements: readonly Sent[], settled: Settled) {
    super('', (error, results) => settled(error, results as unknown as pg.QueryResult[]))
    // Assigned, because the driver's types declare it as a property.
    this.submit = connection => send(connection, statements)
  }
}

function send(connection: pg.Connection, statements: readonly Sent[]): void {
  const known = parsed.get(connection) ?? new Set()
  parsed.set(connection, known)
  const { stream } = connection
  // One write to the socket for all of them.
  stream.cork()
  for (const { text, name, values } of statements) {
    if (name === '' || !known.has(name)) connection.parse({ name, text, types: [] }, true)
    if (name !== '') known.add(name)
    connection.bind({ statement: name, values: values as string[] }, true)
    connection.describe({ type: 'P', name: '' }, true)
    connection.execute({ portal: '' }, true)
  }
  connection.sync()
  stream.uncork()
}
