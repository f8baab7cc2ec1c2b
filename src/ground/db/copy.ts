// COPY of whole tables, portion by portion, so that a table of any size needs little memory. The driver itself has no COPY.
import { once } from 'node:events'
import { Readable } from 'node:stream'
import type pg from 'pg'

/** Methods that the driver's types lack. */
type Connection = pg.Connection & {
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
  sendCopyFail(why: string): void
}

const PORTION_BYTES = 65_536

/** Runs `statement` (`copy … to stdout`) and returns its output in portions of at most 64 KiB, no faster than they are read. After the last, `count` is the number of rows. */
export function copyOut(
  client: pg.ClientBase,
  statement: string,
): { portions: AsyncIterable<Buffer>; count: () => number } {
  let connection: pg.Connection | undefined
  let portion = Buffer.allocUnsafe(PORTION_BYTES)
  let filled = 0
  let count = 0
  const rows = new Readable({
    // Otherwise waiting portions would be read as one.
    objectMode: true,
    highWaterMark: 4,
    read: () => void connection?.stream.resume(),
    destroy(error, done) {
      connection?.stream.resume()
      done(error)
    },
  })
  const send = () => {
    if (filled > 0 && !rows.destroyed && !rows.push(portion.subarray(0, filled))) connection?.stream.pause()
    portion = Buffer.allocUnsafe(PORTION_BYTES)
    filled = 0
  }
  client.query({
    submit(of: pg.Connection) {
      connection = of
      of.query(statement)
    },
    // Copied, because the driver reuses its buffer.
    handleCopyData({ chunk }: { chunk: Buffer }) {
      for (let at = 0; at < chunk.length; ) {
        const copied = chunk.copy(portion, filled, at)
        filled += copied
        at += copied
        if (filled === PORTION_BYTES) send()
      }
    },
    handleCommandComplete({ text }: { text: string }) {
      count = countOf(text)
    },
    handleError: (error: Error) => void rows.destroy(error),
    handleReadyForQuery() {
      send()
      if (!rows.destroyed) rows.push(null)
    },
  })
  return { portions: rows, count: () => count }
}

/** The number in the command tag `COPY 12`. */
const countOf = (text: string): number => Number(/\d+$/.exec(text)?.[0] ?? 0)

/** Sends `portions` to `statement` (`copy … from stdin`) and returns the number of rows. @throws the database's error, or that of `portions` */
export async function copyIn(
  client: pg.ClientBase,
  statement: string,
  portions: AsyncIterable<Buffer>,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  let count = 0
  let isRefused = false
  let fault: unknown
  const feed = async (connection: Connection) => {
    try {
      for await (const portion of portions) {
        if (isRefused) return
        connection.sendCopyFromChunk(portion)
        if (connection.stream.writableNeedDrain) await once(connection.stream, 'drain')
      }
      connection.endCopyFrom()
    } catch (error) {
      fault = error
      connection.sendCopyFail('the rows to copy cannot be read')
    }
  }
  client.query({
    submit: (connection: pg.Connection) => connection.query(statement),
    handleCopyInResponse: (connection: Connection) => void feed(connection),
    handleCommandComplete({ text }: { text: string }) {
      count = countOf(text)
    },
    handleError(error: Error) {
      isRefused = true
      reject(fault ?? error)
    },
    handleReadyForQuery: () => resolve(count),
  })
  return promise
}
