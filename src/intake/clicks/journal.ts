// The journal: clicks on disk while the database is away. A file per process, only ever appended to, a line per click with its CRC-32; an
// append is done when it is synced, and appends that come meanwhile share the next sync. A line cut short by a crash is no line.
//
// Taking over a file needs no knowledge of whose it is: storing a click twice changes nothing, the file is read again after it was
// unlinked, and a writer that finds its file unlinked writes its last lines anew.
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { access, appendFile, type FileHandle, lchown, mkdir, open, readdir, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Logger } from 'pino'
import { otherOwner } from '../../ground/folder-owner.ts'
import type { Click } from './click.ts'

const ENDING = '.journal'
const PORTION = 500
const CHUNK_BYTES = 262_144
const TRIES = 3

export type Journal = {
  /** Resolves when the clicks are synced to the disk. @throws what the disk says. */
  append: (clicks: readonly Click[]) => Promise<void>
  /** Gives all there is now to `store`, in portions, and removes what it took. False when `store` did not take something. Never rejects. */
  drain: (store: Store) => Promise<boolean>
  /** Writes clicks aside that the database will never take. */
  refuse: (clicks: readonly Click[]) => Promise<void>
  isEmpty: () => boolean
  state: () => { journal_bytes: number; journal_files: number }
  close: () => Promise<void>
}

/** Answers whether the clicks were stored. */
type Store = (clicks: Click[]) => Promise<boolean>
type Lines = { text: string; resolve: () => void; reject: (error: unknown) => void }
type File = { path: string; handle: FileHandle | undefined; size: number; drained: number }

/** Opens the folder and finds what other processes have left there. @throws where this user may not read it: clicks would be forgotten. */
export async function openJournal(folder: string, log: Logger): Promise<Journal> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 })
  const owner = made && otherOwner(dirname(folder))
  if (owner) await lchown(folder, owner.uid, owner.gid)
  const left = (await readdir(folder)).filter(name => name.endsWith(ENDING)).sort()
  for (const name of left) await access(join(folder, name), constants.R_OK).catch(ignoreMissing)
  /** To be drained, the oldest first; the last one may be `current`. */
  let files: File[] = left.map(name => ({ path: join(folder, name), handle: undefined, size: 0, drained: 0 }))
  const writer = openWriter(folder, file => files.push(file))

  const drainFile = async (file: File, store: Store): Promise<boolean> => {
    await writer.seal(file)
    const handle = await open(file.path).catch(ignoreMissing)
    if (handle === undefined) return true
    try {
      if (!(await drainLines(handle, file, store, log))) return false
      await unlink(file.path).catch(ignoreMissing)
      return await drainLines(handle, file, store, log)
    } finally {
      await handle.close()
    }
  }

  return {
    append: clicks => writer.write(clicks.map(lineOf).join('')),
    async drain(store) {
      // Those there are now: what `store` puts back is for the next time.
      const there = files
      files = there.slice()
      for (const file of there) {
        try {
          if (!(await drainFile(file, store))) return false
        } catch (error) {
          log.error(
            { err: error, file: file.path },
            'a file of the journal cannot be read; it is left for the next start',
          )
        }
        files = files.filter(other => other !== file)
      }
      return true
    },
    refuse: clicks =>
      appendFile(join(folder, 'refused.jsonl'), clicks.map(click => `${JSON.stringify(click)}\n`).join('')),
    isEmpty: () => files.length === 0,
    state: () => ({
      journal_bytes: files.reduce((sum, { size, drained }) => sum + Math.max(0, size - drained), 0),
      journal_files: files.length,
    }),
    async close() {
      await writer.idle()
      for (const file of files) await writer.seal(file)
    },
  }
}

type Writer = {
  write: (text: string) => Promise<void>
  /** Ends appending to the file, after what is being written to it. */
  seal: (file: File) => Promise<void>
  idle: () => Promise<void>
}

function openWriter(folder: string, created: (file: File) => void): Writer {
  let waiting: Lines[] = []
  let current: File | undefined
  let isWriting = false
  /** The group being written; never rejects. */
  let group: Promise<void> = Promise.resolve()

  const writeGroup = async (text: string) => {
    for (let tried = 0; tried < TRIES; tried += 1) {
      if (current === undefined) {
        current = await createFile(folder)
        created(current)
      }
      const file = current
      if (file.handle === undefined) throw new Error('the journal is closed')
      await file.handle.appendFile(text)
      await file.handle.datasync()
      const { nlink, size } = await file.handle.stat()
      file.size = size
      if (nlink > 0) return
      // Someone took the file over, perhaps before these lines were in it.
      if (current === file) current = undefined
    }
    throw new Error('the journal is taken away again and again')
  }

  const run = async () => {
    isWriting = true
    while (waiting.length > 0) {
      const lines = waiting
      waiting = []
      group = writeGroup(lines.map(line => line.text).join('')).then(
        () => lines.forEach(line => line.resolve()),
        (error: unknown) => lines.forEach(line => line.reject(error)),
      )
      await group
    }
    isWriting = false
  }

  const seal = async (file: File) => {
    if (current === file) current = undefined
    await group
    await file.handle?.close()
    file.handle = undefined
  }

  return {
    write: text =>
      new Promise((resolve, reject) => {
        waiting.push({ text, resolve, reject })
        if (!isWriting) void run()
      }),
    seal,
    async idle() {
      while (isWriting) await group
    },
  }
}

async function createFile(folder: string): Promise<File> {
  const name = `${new Date().toISOString().replaceAll(/[-:.]/g, '')}-${randomBytes(4).toString('hex')}${ENDING}`
  const path = join(folder, name)
  const handle = await open(path, 'ax', 0o600)
  const owner = otherOwner(folder)
  if (owner) await handle.chown(owner.uid, owner.gid)
  const directory = await open(folder)
  // Without it a crash of the machine may forget the file's name, and with it every line.
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
  return { path, handle, size: 0, drained: 0 }
}

/** The line break before it ends whatever a failed write may have left. */
function lineOf(click: Click): string {
  const text = JSON.stringify(click)
  return `\n${crc32(text).toString(16).padStart(8, '0')} ${text}\n`
}

function clickOf(line: string): Click | undefined {
  const text = line.slice(9)
  if (line[8] !== ' ' || Number.parseInt(line.slice(0, 8), 16) !== crc32(text)) return undefined
  return JSON.parse(text) as Click
}

/** Gives the lines from where the file was drained up to, in portions. */
async function drainLines(handle: FileHandle, file: File, store: Store, log: Logger): Promise<boolean> {
  const chunk = Buffer.alloc(CHUNK_BYTES)
  let rest: Buffer = Buffer.alloc(0)
  for (;;) {
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, file.drained + rest.length)
    const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)])
    const end = bytes.lastIndexOf(0x0a) + 1
    const lines = bytes.toString('utf8', 0, end).split('\n').filter(Boolean)
    const clicks = lines.map(clickOf).filter(click => click !== undefined)
    if (clicks.length < lines.length)
      log.warn(
        { file: file.path, lines: lines.length - clicks.length },
        'lines of the journal were cut short by a crash',
      )
    for (let from = 0; from < clicks.length; from += PORTION) {
      if (!(await store(clicks.slice(from, from + PORTION)))) return false
    }
    file.drained += end
    rest = bytes.subarray(end)
    if (bytesRead === 0) return true
  }
}

function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
}
