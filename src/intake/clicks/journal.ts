// The journal: clicks on disk while the database is away. One append-only file per process, one line per click with its CRC-32. An append
// resolves after fsync; appends that arrive meanwhile share the next fsync. A line that a crash cut short is ignored.
//
// Any process may drain any file, even one still being written: storing a click twice changes nothing, the file is read again after it is
// unlinked, and a writer that finds its file unlinked writes its last lines to a new one. When the disk is full, the writer goes on in the reserve
// until its clicks are stored.
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { access, appendFile, type FileHandle, lchown, mkdir, open, readdir, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Logger } from 'pino'
import { otherOwner } from '../../ground/folder-owner.ts'
import type { Click } from './click.ts'
import { openReserve, type Reserve } from './reserve.ts'

const ENDING = '.journal'
/** The ending of a file that was the reserve: clicks are written over its line breaks. */
const RESERVE_ENDING = '-reserve.journal'
const PORTION = 500
const CHUNK_BYTES = 262_144
const TRIES = 3

export type Journal = {
  /** Resolves when the clicks are synced to the disk. @throws what the disk says. */
  append: (clicks: readonly Click[]) => Promise<void>
  /** Passes all clicks there are now to `store`, in portions, and removes stored files. False if `store` returned false. Never rejects. */
  drain: (store: Store) => Promise<boolean>
  /** Writes clicks that the database will never take to refused.jsonl. */
  refuse: (clicks: readonly Click[]) => Promise<void>
  isEmpty: () => boolean
  /** Sets the reserve aside if it is missing. @throws if the disk has no room for it. */
  setAside: Reserve['setAside']
  state: () => { journal_bytes: number; journal_files: number; is_reserve_missing: boolean }
  close: () => Promise<void>
}

/** Returns whether the clicks were stored. */
type Store = (clicks: Click[]) => Promise<boolean>
type WaitingLines = { text: string; resolve: () => void; reject: (error: unknown) => void }
/** `size`: of the lines that were written here; in the reserve the next line is written there. */
type JournalFile = { path: string; handle: FileHandle | undefined; size: number; drained: number; isReserve?: boolean }

/**
 * Opens the folder and finds the files other processes left. The reserve is not set aside yet.
 * @throws if this user cannot read a file, because its clicks would be lost.
 */
export async function openJournal(folder: string, log: Logger, reserve_bytes = 0): Promise<Journal> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 })
  const owner = made && otherOwner(dirname(folder))
  if (owner) await lchown(folder, owner.uid, owner.gid)
  const left = (await readdir(folder)).filter(name => name.endsWith(ENDING)).sort()
  for (const name of left) await access(join(folder, name), constants.R_OK).catch(ignoreMissing)
  /** Files to drain, oldest first; the last may be the writer's current file. */
  let files: JournalFile[] = left.map(name => ({ path: join(folder, name), handle: undefined, size: 0, drained: 0 }))
  const reserve = openReserve(folder, reserve_bytes)
  const writer = openWriter(folder, reserve, log, file => files.push(file))

  const drainFile = async (file: JournalFile, store: Store): Promise<boolean> => {
    // While the database takes nothing, a full disk has no room for another file: the reserve is written until its clicks are stored.
    if (file.isReserve === true && !(await drainComplete(file, store, log))) return false
    await writer.seal(file)
    const handle = await open(file.path).catch(ignoreMissing)
    if (handle === undefined) return true
    try {
      if (!(await drainLines(handle, file, store, log))) return false
      // The disk may be full for longer than the database is away, and a reserve that was deleted could not be set aside again.
      if (file.isReserve === true) {
        await reserve.giveBack(file.path).catch(ignoreMissing)
        return true
      }
      await unlink(file.path).catch(ignoreMissing)
      // A process that is writing there may have had lines among those that were already read.
      if (file.path.endsWith(RESERVE_ENDING)) file.drained = 0
      return await drainLines(handle, file, store, log)
    } finally {
      await handle.close()
    }
  }

  return {
    append: clicks => writer.write(clicks.map(lineOf).join('')),
    async drain(store) {
      // Only the files there are now: clicks that `store` puts back wait for the next drain.
      const current = files
      files = current.slice()
      for (const file of current) {
        try {
          if (!(await drainFile(file, store))) return false
        } catch (error) {
          log.error({ err: error, file: file.path }, 'could not read a file of the journal; left for the next start')
        }
        files = files.filter(other => other !== file)
      }
      return true
    },
    refuse: clicks =>
      appendFile(join(folder, 'refused.jsonl'), clicks.map(click => `${JSON.stringify(click)}\n`).join('')),
    isEmpty: () => files.length === 0,
    setAside: reserve.setAside,
    state: () => ({
      is_reserve_missing: reserve.isMissing(),
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
  /** Closes the file for appending, after the current write. */
  seal: (file: JournalFile) => Promise<void>
  idle: () => Promise<void>
}

function openWriter(folder: string, reserve: Reserve, log: Logger, created: (file: JournalFile) => void): Writer {
  let waiting: WaitingLines[] = []
  let current: JournalFile | undefined
  let isWriting = false
  /** The group being written; never rejects. */
  let group: Promise<void> = Promise.resolve()

  const begin = (file: JournalFile): JournalFile => {
    current = file
    created(file)
    return file
  }

  const writeGroup = async (text: string) => {
    const bytes = Buffer.from(text)
    for (let tried = 0; tried < TRIES; tried += 1) {
      try {
        const file = current ?? begin(await createFile(folder))
        if (await writeLines(file, bytes)) return
        // Another process drained the file, perhaps before these lines were in it.
        if (current === file) current = undefined
      } catch (error) {
        const file = isFull(error) ? await takeReserve(folder, reserve) : undefined
        if (file === undefined) throw error
        log.warn('the disk is full; clicks are written to the reserve of the journal')
        begin(file)
      }
    }
    throw new Error('the journal file is removed again and again')
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

  const seal = async (file: JournalFile) => {
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

const newPath = (folder: string, ending: string): string =>
  join(folder, `${new Date().toISOString().replaceAll(/[-:.]/g, '')}-${randomBytes(4).toString('hex')}${ending}`)

async function createFile(folder: string): Promise<JournalFile> {
  const path = newPath(folder, ENDING)
  // For appending, so that what a failed write left is never overwritten: another process may already have read past it.
  const handle = await open(path, 'ax', 0o600)
  const owner = otherOwner(folder)
  if (owner) await handle.chown(owner.uid, owner.gid)
  await syncFolder(folder)
  return { path, handle, size: 0, drained: 0 }
}

/** Undefined if there is no reserve. */
async function takeReserve(folder: string, reserve: Reserve): Promise<JournalFile | undefined> {
  const path = newPath(folder, RESERVE_ENDING)
  const handle = await reserve.take(path)
  if (handle === undefined) return undefined
  await syncFolder(folder)
  return { path, handle, size: 0, drained: 0, isReserve: true }
}

/** Whether the lines are where a reader finds them. */
async function writeLines(file: JournalFile, bytes: Buffer): Promise<boolean> {
  if (file.handle === undefined) throw new Error('the journal is closed')
  await writeAll(file.handle, bytes, file.size)
  await file.handle.datasync()
  file.size += bytes.length
  return (await file.handle.stat()).nlink > 0
}

/** Without this a crash of the machine may lose a file's name, and with it every line. */
async function syncFolder(folder: string): Promise<void> {
  const directory = await open(folder)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** Writes at `at`, or at the end of a file that was opened for appending. */
async function writeAll(handle: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; )
    done += (await handle.write(bytes, done, bytes.length - done, at + done)).bytesWritten
}

const isFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')

/** The leading line break ends a partial line that a failed write may have left. */
function lineOf(click: Click): string {
  const text = JSON.stringify(click)
  return `\n${crc32(text).toString(16).padStart(8, '0')} ${text}\n`
}

function clickOf(line: string): Click | undefined {
  const text = line.slice(9)
  if (line[8] !== ' ' || Number.parseInt(line.slice(0, 8), 16) !== crc32(text)) return undefined
  return JSON.parse(text) as Click
}

/** Passes the lines after the drained part of the file, and before the byte `until`, to `store`, in portions. */
async function drainLines(
  handle: FileHandle,
  file: JournalFile,
  store: Store,
  log: Logger,
  until = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  const chunk = Buffer.alloc(CHUNK_BYTES)
  let rest: Buffer = Buffer.alloc(0)
  for (;;) {
    const from = file.drained + rest.length
    const { bytesRead } = await handle.read(chunk, 0, Math.min(CHUNK_BYTES, until - from), from)
    const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)])
    const end = bytes.lastIndexOf(0x0a) + 1
    const lines = bytes.toString('utf8', 0, end).split('\n').filter(Boolean)
    const clicks = lines.map(clickOf).filter(click => click !== undefined)
    if (clicks.length < lines.length)
      log.warn(
        { file: file.path, lines: lines.length - clicks.length },
        'ignored lines of the journal that a crash cut short',
      )
    for (let at = 0; at < clicks.length; at += PORTION) {
      if (!(await store(clicks.slice(at, at + PORTION)))) return false
    }
    file.drained += end
    rest = bytes.subarray(end)
    if (bytesRead === 0) return true
  }
}

/** Drains the lines that are complete now, while further ones are written. */
async function drainComplete(file: JournalFile, store: Store, log: Logger): Promise<boolean> {
  const handle = await open(file.path).catch(ignoreMissing)
  try {
    return handle === undefined || (await drainLines(handle, file, store, log, file.size))
  } finally {
    await handle?.close()
  }
}

function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
}
