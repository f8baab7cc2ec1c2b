/**
 * The file of a backup: one gzip stream. Inside are lines of JSON; `{"bytes":n}` is followed by n bytes of what the line before it announced.
 * The last line is the SHA-256 of everything before it, so a file that was cut off or changed is known as one.
 */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { constants, createGunzip, createGzip } from 'node:zlib'
import { StartError } from '../ground/start-error.ts'

/** A line, or what a line has announced. */
export type Part = { readonly line: Line } | { readonly bytes: Buffer }
export type Line = Readonly<Record<string, unknown>>

/** Longer than any line this version writes; what is longer is no backup. */
const LONGEST_LINE = 16 * 1024 * 1024
/** Of one portion of rows or of a journal. */
export const PORTION_BYTES = 65_536

/**
 * Writes `parts` and their sum to a file that only this user can read, and that is there when it is complete or not at all.
 * @throws StartError where it cannot be written, besides what `parts` throws
 */
export async function writeBackup(path: string, parts: AsyncIterable<Part>): Promise<void> {
  const unfinished = `${path}.unfinished`
  try {
    await pipeline(
      encoded(parts),
      // Rows are text: more effort would take four times as long for a tenth less.
      createGzip({ level: constants.Z_BEST_SPEED + 2 }),
      createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true }),
    )
    await rename(unfinished, path)
  } catch (error) {
    const { code, path: where, message } = error as NodeJS.ErrnoException
    if (code === 'EEXIST')
      throw new StartError(`${unfinished} is there: another backup is being written, or was cut off; then remove it`)
    await rm(unfinished, { force: true })
    throw where === unfinished || code === 'ENOSPC' ? new StartError(`${path} cannot be written: ${message}`) : error
  }
  const folder = await open(dirname(path))
  // Without it a crash of the machine may forget the file's name.
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

async function* encoded(parts: AsyncIterable<Part>): AsyncGenerator<Buffer> {
  const sum = createHash('sha256')
  for await (const part of parts) {
    const head = 'line' in part ? part.line : { bytes: part.bytes.length }
    for (const bytes of [Buffer.from(`${JSON.stringify(head)}\n`), ...('bytes' in part ? [part.bytes] : [])]) {
      sum.update(bytes)
      yield bytes
    }
  }
  yield Buffer.from(`${JSON.stringify({ sha256: sum.digest('hex') })}\n`)
}

/** The parts of a file, and at its end whether its sum is right. @throws StartError for a file that is no backup, or not a whole one */
export async function* readBackup(path: string): AsyncGenerator<Part> {
  const sum = createHash('sha256')
  const take = reader(path)
  for (;;) {
    const text = await take.line()
    const line = parsed(text, path)
    if (typeof line['sha256'] === 'string') {
      if (line['sha256'] !== sum.digest('hex')) throw broken(path, 'its sum is another than it says')
      return
    }
    sum.update(text).update('\n')
    const length = line['bytes']
    if (length === undefined) yield { line }
    else {
      if (typeof length !== 'number' || !(length >= 0 && length <= PORTION_BYTES))
        throw broken(path, 'a length is wrong')
      const bytes = await take.bytes(length)
      sum.update(bytes)
      yield { bytes }
    }
  }
}

const broken = (path: string, why: string) => new StartError(`${path} is no whole backup: ${why}`)

function parsed(text: string, path: string): Line {
  try {
    const line: unknown = JSON.parse(text)
    if (typeof line === 'object' && line !== null) return line as Line
  } catch {
    // Said below.
  }
  throw broken(path, 'a line cannot be read')
}

/** Takes a file apart, from its beginning. */
function reader(path: string) {
  const gunzip = createReadStream(path)
    .on('error', error => gunzip.destroy(error))
    .pipe(createGunzip())
  const chunks = gunzip[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  const more = async () => {
    const next = await chunks.next().catch((error: NodeJS.ErrnoException) => {
      throw error.code?.startsWith('Z_')
        ? broken(path, error.message)
        : new StartError(`${path} cannot be read: ${error.message}`)
    })
    if (next.done === true) throw broken(path, 'it ends too early')
    held = Buffer.concat([held, next.value as Buffer])
  }
  return {
    async line(): Promise<string> {
      let end = held.indexOf(0x0a)
      for (; end < 0; end = held.indexOf(0x0a)) {
        if (held.length > LONGEST_LINE) throw broken(path, 'a line does not end')
        await more()
      }
      const text = held.toString('utf8', 0, end)
      held = held.subarray(end + 1)
      return text
    },
    async bytes(length: number): Promise<Buffer> {
      while (held.length < length) await more()
      const taken = held.subarray(0, length)
      held = held.subarray(length)
      return taken
    },
  }
}
