/**
 * The file of a backup: one gzip stream, and behind it a signature of all its bytes: their HMAC-SHA-256 with a key derived from SECRET. Who does not
 * know SECRET can neither make nor change a file that is taken as one of this installation.
 *
 * Inside the stream are lines of JSON; `{"bytes":n}` is followed by n bytes of what the line before it announced. The last line is the SHA-256 of
 * everything before it. Files of form 1 have that alone, which tells a damaged file, and not one that somebody has rewritten.
 */
import { createHash, createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
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
const SIGNATURE = /^sluice-hmac-sha256 ([0-9a-f]{64})\n$/
/** Of the signature, behind everything else. */
export const SIGNATURE_BYTES = 84

/**
 * Writes `parts`, signed with `key`, to a file that only this user can read, and that is there when it is complete or not at all.
 * @throws StartError where it cannot be written, besides what `parts` throws
 */
export async function writeBackup(path: string, parts: AsyncIterable<Part>, key: KeyObject): Promise<void> {
  const unfinished = `${path}.unfinished`
  try {
    await pipeline(
      encoded(parts),
      // Rows are text: more effort would take four times as long for a tenth less.
      createGzip({ level: constants.Z_BEST_SPEED + 2 }),
      chunks => signed(chunks, key),
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

async function* signed(chunks: AsyncIterable<Buffer>, key: KeyObject): AsyncGenerator<Buffer> {
  const mac = createHmac('sha256', key)
  for await (const chunk of chunks) {
    mac.update(chunk)
    yield chunk
  }
  yield Buffer.from(`sluice-hmac-sha256 ${mac.digest('hex')}\n`)
}

/** Whether there is a signature behind the file, whosesoever. @throws StartError where it cannot be read */
export async function hasSignature(path: string): Promise<boolean> {
  const file = await open(path).catch((error: Error) => {
    throw unreadable(path, error)
  })
  try {
    const { size } = await file.stat()
    const buffer = Buffer.alloc(SIGNATURE_BYTES)
    const { bytesRead } = await file.read({ buffer, position: Math.max(0, size - SIGNATURE_BYTES) })
    return SIGNATURE.test(buffer.toString('latin1', 0, bytesRead))
  } finally {
    await file.close()
  }
}

/** Reads the file to its end. @throws StartError where its signature is not that of its bytes and `key` */
export async function checkSignature(path: string, key: KeyObject): Promise<void> {
  for await (const _ of streamOf(path, key));
}

/**
 * The gzip stream of a signed file, from its first byte on; without a key, all bytes of one that is not signed.
 * @throws StartError at its end where the signature is another
 */
async function* streamOf(path: string, key: KeyObject | undefined): AsyncGenerator<Buffer> {
  const chunks: AsyncIterable<Buffer> = createReadStream(path)
  if (key === undefined) return yield* chunks
  const mac = createHmac('sha256', key)
  let held: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    const all = Buffer.concat([held, chunk])
    const stream = all.subarray(0, Math.max(0, all.length - SIGNATURE_BYTES))
    held = all.subarray(stream.length)
    mac.update(stream)
    yield stream
  }
  const said = Buffer.from(SIGNATURE.exec(held.toString('latin1'))?.[1] ?? '', 'hex')
  const right = mac.digest()
  if (said.length !== right.length || !timingSafeEqual(said, right))
    throw new StartError(
      `${path} was changed since it was made, or SECRET is not the one it was made with: put the file \`secret\` that was kept with it into ` +
        'DATA_DIR, or set SECRET to what it was; if it is the right one, use another backup',
    )
}

const unreadable = (path: string, { message }: Error) => new StartError(`${path} cannot be read: ${message}`)

/**
 * The parts of a file. At its end its sum is held against its bytes and, where it was signed with `key`, so is its signature.
 * @throws StartError for a file that is no backup, not a whole one, or was changed
 */
export async function* readBackup(path: string, key: KeyObject | undefined): AsyncGenerator<Part> {
  const sum = createHash('sha256')
  const take = reader(path, key)
  for (;;) {
    const text = await take.line()
    const line = parsed(text, path)
    if (typeof line['sha256'] === 'string') {
      if (line['sha256'] !== sum.digest('hex')) throw broken(path, 'its sum is another than it says')
      await take.end()
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
function reader(path: string, key: KeyObject | undefined) {
  const gunzip = createGunzip()
  const piped = pipeline(Readable.from(streamOf(path, key)), gunzip)
  // Its errors are the gunzip's too, which the chunks throw.
  piped.catch(() => {})
  const chunks = gunzip[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  const next = async () =>
    chunks.next().catch((error: NodeJS.ErrnoException) => {
      if (error instanceof StartError) throw error
      throw error.code?.startsWith('Z_') ? broken(path, error.message) : unreadable(path, error)
    })
  const more = async () => {
    const { done, value } = await next()
    if (done === true) throw broken(path, 'it ends too early')
    held = Buffer.concat([held, value as Buffer])
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
    /** Nothing is to come any more, and all that was read was signed. */
    async end(): Promise<void> {
      if (held.length > 0 || (await next()).done !== true) throw broken(path, 'it goes on behind its end')
      await piped
    },
  }
}
