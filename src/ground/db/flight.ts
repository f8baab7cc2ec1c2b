// A flight: several statements sent in one write, with a single Sync after all of them. The driver's pipeline ends each statement with its own Sync,
// so a flight saves both sides a system call per statement.
import { createHash } from 'node:crypto'
import pg from 'pg'
import type { Value } from './statement.ts'

declare const row: unique symbol

/** A statement with its parameters. Its type holds the rows that it returns. */
export type FlightStatement<Row = unknown> = {
  readonly text: string
  readonly values: readonly Value[]
  readonly [row]?: Row
}

/** Builds a statement and states its rows. `text` must be a constant, because each text is prepared once per connection and kept. */
export function ask<Row = never>(text: string, values: readonly Value[] = []): FlightStatement<Row> {
  return { text, values }
}

type Questions = Readonly<Record<string, FlightStatement | undefined>>
type Answers<Q> = {
  [Name in keyof Q]: Q[Name] extends FlightStatement<infer Row>
    ? Row[]
    : Q[Name] extends undefined
      ? []
      : RowsOf<Q[Name]>
}
type RowsOf<Q> = NonNullable<Q> extends FlightStatement<infer Row> ? Row[] : []

/**
 * Sends all statements at once, in the order in which they are listed, and returns the rows under their names; an undefined one has no rows. After a
 * statement that fails, the server skips the rest, including a `commit`.
 * @param client of a pool with `pipeline: true`.
 * @throws the error of the statement that failed, or of the connection.
 */
export async function flight<const Q extends Questions>(client: pg.PoolClient, questions: Q): Promise<Answers<Q>> {
  const asked = Object.entries(questions).filter((entry): entry is [string, FlightStatement] => entry[1] !== undefined)
  const answers = await flightOf<unknown>(
    client,
    asked.map(([, question]) => question),
  )
  const rows = new Map(asked.map(([name], at) => [name, answers[at] ?? []]))
  // The names of the questions, which the compiler cannot follow through Object.fromEntries.
  return Object.fromEntries(Object.keys(questions).map(name => [name, rows.get(name) ?? []])) as Answers<Q>
}

/** The same for a list of statements with one kind of row: the rows of each, in the order of the list. */
export function flightOf<Row>(client: pg.PoolClient, questions: readonly FlightStatement<Row>[]): Promise<Row[][]> {
  // Not in a promise's executor, where the callback would keep the statements in memory.
  const { promise, resolve, reject } = Promise.withResolvers<Row[][]>()
  client.query(
    new Flight(client, questions, (error, answers) => (error ? reject(error) : resolve((answers ?? []) as Row[][]))),
  )
  return promise
}

type Column = { name: string; parse: (text: string) => unknown }
type Row = Record<string, unknown>
type Field = { name: string; dataTypeID: number }
type Done = (error: Error | null, answers?: Row[][]) => void

/** The prepared statements of each connection, with the columns of their rows. */
const prepared = new WeakMap<pg.Connection, Map<string, Column[]>>()
const names = new Map<string, string>()

function nameOf(text: string): string {
  const name = names.get(text) ?? `flight ${createHash('sha1').update(text).digest('base64url')}`
  names.set(text, name)
  return name
}

/** One entry in the driver's queue that stands for many statements. The driver passes it their messages in order. */
class Flight extends pg.Query {
  /** Not private, because the driver wraps it in its own timer. */
  callback: Done
  readonly #client: pg.PoolClient
  #questions: readonly FlightStatement[]
  readonly #answers: Row[][] = []
  #known = new Map<string, Column[]>()
  #columns: Column[] = []
  #rows: Row[] = []

  constructor(client: pg.PoolClient, questions: readonly FlightStatement[], done: Done) {
    super({ text: '' })
    this.#client = client
    this.#questions = questions
    this.callback = done
  }

  override submit = (connection: pg.Connection): void => {
    this.#known = prepared.get(connection) ?? new Map()
    prepared.set(connection, this.#known)
    const { wire, sent } = gathering(connection)
    for (const { text, values } of this.#questions) {
      const name = nameOf(text)
      const isKnown = this.#known.has(name)
      if (!isKnown) {
        // A statement that failed before may still be prepared. Closing one that is not is no error.
        wire.close({ type: 'S', name }, true)
        wire.parse({ name, text, types: [] }, true)
      }
      wire.bind({ statement: name, values: values.map(written) } as pg.BindConfig, true)
      if (!isKnown) wire.describe({ type: 'P', name: '' }, true)
      wire.execute({}, true)
    }
    wire.sync()
    connection.stream.write(Buffer.concat(sent))
    this.#begin()
  }

  /** Prepares to receive the rows of the next statement. The server describes its columns only the first time. */
  #begin(): void {
    const next = this.#questions[this.#answers.length]
    this.#columns = next === undefined ? [] : (this.#known.get(nameOf(next.text)) ?? [])
    this.#rows = []
  }

  handleRowDescription({ fields }: { fields: Field[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: this.#client.getTypeParser(dataTypeID, 'text'),
    }))
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const row: Row = {}
    for (const [at, { name, parse }] of this.#columns.entries()) {
      const text = fields[at]
      row[name] = text === null || text === undefined ? null : parse(text)
    }
    this.#rows.push(row)
  }

  handleCommandComplete(): void {
    const { text } = this.#questions[this.#answers.length] as FlightStatement
    this.#known.set(nameOf(text), this.#columns)
    this.#answers.push(this.#rows)
    this.#begin()
  }

  handleReadyForQuery(): void {
    this.#answered()(null, this.#answers)
  }

  handleError(error: Error): void {
    this.#answered()(error)
  }

  /** Drops the statements. Otherwise they would stay in memory until the next full garbage collection, which visitors have to wait for. */
  #answered(): Done {
    this.#questions = []
    return this.callback
  }
}

/** The connection, but collecting its messages: one write of all costs a third of writing each to the socket. */
function gathering(connection: pg.Connection): { wire: pg.Connection; sent: Uint8Array[] } {
  const sent: Uint8Array[] = []
  const stream = { writable: true, write: (message: Uint8Array) => sent.push(message) > 0 }
  return { wire: Object.create(connection, { stream: { value: stream } }) as pg.Connection, sent }
}

/** A parameter in the server's text format. */
function written(value: Value): string | null {
  if (value === null || typeof value === 'string') return value
  if (typeof value === 'object') return writtenList(value as readonly Value[])
  return String(value)
}

const PLAIN = /^[\w-]+$/

function writtenList(list: readonly Value[]): string {
  return `{${list.map(value => writtenElement(written(value))).join(',')}}`
}

function writtenElement(text: string | null): string {
  if (text === null) return 'null'
  return PLAIN.test(text) && text.toLowerCase() !== 'null' ? text : `"${text.replace(/["\\]/g, '\\$&')}"`
}
