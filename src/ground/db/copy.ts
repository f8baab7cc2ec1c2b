// COPY, which the driver leaves to others: whole tables as the database's own text, a portion at a time, however large they are.
import { once } from 'node:events'
import { Readable } from 'node:stream'
import type pg from 'pg'

/** What a connection can do besides, which its types do not say. */
type Connection = pg.Connection & {
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
  sendCopyFail(why: string): void
}

const PORTION_BYTES = 65_536

/** What `statement` (`copy … to stdout`) says, in portions of 64 KiB at most, and behind the last how many rows it was. The connection waits for whoever reads. */
export function copyOut(
  client: pg.ClientBase,
  statement: string,
): { portions: AsyncIterable<Buffer>; count: () => number } {
  let connection: pg.Connection | undefined
  let portion = Buffer.allocUnsafe(PORTION_BYTES)
  let filled = 0
  let count = 0
  const rows = new Readable({
    // Else what is waiting would be read as one.
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
    // The driver writes over what it has handed out, so it is copied here.
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

/** Of the database's last word, `COPY 12`. */
const countOf = (text: string): number => Number(/\d+$/.exec(text)?.[0] ?? 0)

/** Gives `portions` to `statement` (`copy … from stdin`) and answers how many rows they were. @throws the database's error, or that of `portions` */
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
      connection.sendCopyFail('what was to be copied cannot be read')
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
