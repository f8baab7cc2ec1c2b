/**
 * The file of a backup: one gzip stream, followed by the HMAC-SHA-256 of all its bytes with a key derived from SECRET. Without SECRET nobody can make or
 * change a file that this installation accepts.
 *
 * The stream holds lines of JSON. `{"bytes":n}` is followed by n bytes of the object that an earlier line announced. The last line is the SHA-256 of
 * everything before it. Files of form 1 have only that, so damage is detected, but not a rewritten file.
 */
import { createHash, createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createGunzip, createGzip } from 'node:zlib'
import { StartError } from '../ground/start-error.ts'

/** A line, or a portion of the bytes that a line announced. */
export type BackupPart = { readonly line: BackupLine } | { readonly bytes: Buffer }
export type BackupLine = Readonly<Record<string, unknown>>

/** Longer than any line that this version writes. A file with a longer line is no backup. */
const LONGEST_LINE = 16 * 1024 * 1024
/** The most bytes of a portion. */
export const PORTION_BYTES = 65_536
const SIGNATURE = /^sluice-hmac-sha256 ([0-9a-f]{64})\n$/
/** The length of the signature at the end of the file. */
export const SIGNATURE_BYTES = 84

/** The end of the name of a file that is still being written. */
export const UNFINISHED = '.unfinished'

/**
 * Writes `parts`, signed with `key`, to a file that only this user can read. The file exists only once it is complete.
 * @throws StartError if it cannot be written, the errors of `parts`, and the reason of `signal` once it is aborted
 */
export async function writeBackup(
  path: string,
  parts: AsyncIterable<BackupPart>,
  key: KeyObject,
  signal?: AbortSignal,
): Promise<void> {
  const unfinished = `${path}${UNFINISHED}`
  try {
    await pipeline(
      encoded(parts),
      // A higher level would take four times as long for rows and save a tenth.
      createGzip({ level: constants.Z_BEST_SPEED + 2 }),
      chunks => signed(chunks, key),
      createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true }),
      { signal },
    )
    await rename(unfinished, path)
  } catch (error) {
    const { code, path: where, message } = error as NodeJS.ErrnoException
    if (code === 'EEXIST')
      throw new StartError(
        `${unfinished} exists: another backup is being written, or one was interrupted; in that case remove the file`,
      )
    await rm(unfinished, { force: true })
    signal?.throwIfAborted()
    throw where === unfinished || code === 'ENOSPC'
      ? new StartError(`${path} cannot be written: ${message}${remedyFor(code)}`)
      : error
  }
  const folder = await open(dirname(path))
  // Otherwise the name of the file may be lost if the machine crashes.
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

const REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: ': free space on its disk, or choose a folder on another disk',
  ENOENT: ': create the folder for the user that runs Sluice',
  EACCES: ': let the user that runs Sluice write to the folder',
  EROFS: ': if a service of systemd makes the backup, name the folder in its ReadWritePaths=',
}
const remedyFor = (code: string | undefined): string => REMEDIES[code ?? ''] ?? ''

async function* encoded(parts: AsyncIterable<BackupPart>): AsyncGenerator<Buffer> {
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

/** Whether the file ends with a signature, valid or not. @throws StartError if it cannot be read */
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

/** Reads the file to its end. @throws StartError if the signature does not match its bytes and `key` */
export async function checkSignature(path: string, key: KeyObject): Promise<void> {
  for await (const _ of streamOf(path, key));
}

/**
 * The gzip stream of a signed file; without a key, all bytes of an unsigned file.
 * @throws StartError at its end if the signature does not match
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
  const signature = Buffer.from(SIGNATURE.exec(held.toString('latin1'))?.[1] ?? '', 'hex')
  const expected = mac.digest()
  if (signature.length !== expected.length || !timingSafeEqual(signature, expected))
    throw new StartError(
      `${path} was changed since it was made, or SECRET is not the one it was made with: put the file \`secret\` of that installation into ` +
        'DATA_DIR, or set SECRET to its value; if SECRET is right, use another backup',
    )
}

const unreadable = (path: string, { message }: Error) => new StartError(`${path} cannot be read: ${message}`)

/**
 * The parts of a file. The checksum is verified at its end, and with a `key` the signature.
 * @throws StartError for a file that is no backup, is incomplete, or was changed
 */
export async function* readBackup(path: string, key: KeyObject | undefined): AsyncGenerator<BackupPart> {
  const sum = createHash('sha256')
  const reader = readerOf(path, key)
  for (;;) {
    const text = await reader.line()
    const line = parsed(text, path)
    if (typeof line['sha256'] === 'string') {
      if (line['sha256'] !== sum.digest('hex')) throw broken(path, 'its checksum does not match')
      await reader.end()
      return
    }
    sum.update(text).update('\n')
    const length = line['bytes']
    if (length === undefined) yield { line }
    else {
      if (typeof length !== 'number' || !(length >= 0 && length <= PORTION_BYTES))
        throw broken(path, 'a length is wrong')
      const bytes = await reader.bytes(length)
      sum.update(bytes)
      yield { bytes }
    }
  }
}

const broken = (path: string, why: string) => new StartError(`${path} is no complete backup: ${why}`)

function parsed(text: string, path: string): BackupLine {
  try {
    const line: unknown = JSON.parse(text)
    if (typeof line === 'object' && line !== null) return line as BackupLine
  } catch {
    // Refused below.
  }
  throw broken(path, 'a line cannot be read')
}

/** Reads a file from its beginning, line by line or byte by byte. */
function readerOf(path: string, key: KeyObject | undefined) {
  const gunzip = createGunzip()
  const piped = pipeline(Readable.from(streamOf(path, key)), gunzip)
  // Its errors also destroy the gunzip, so the chunks throw them.
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
    /** Checks that nothing follows, and with a key that the signature matches. */
    async end(): Promise<void> {
      if (held.length > 0 || (await next()).done !== true) throw broken(path, 'it has data after its end')
      await piped
    },
  }
}
