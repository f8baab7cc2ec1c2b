// Space that the journal has on its disk before it needs it: a file of line breaks, which readers of the journal skip. When the disk is full, the
// file becomes a file of the journal, and clicks are written over its line breaks. That needs no further space, so no other program can take it.
import { constants } from 'node:fs'
import { type FileHandle, open, rename, stat, statfs, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { otherOwner } from '../../ground/folder-owner.ts'

/** The name of the file in the journal's folder. */
export const RESERVE_NAME = 'reserve'
const PIECE = Buffer.alloc(1_048_576, '\n')
/** `blocks` of a stat are of this size, whatever the file system. */
const BLOCK_BYTES = 512

export type Reserve = {
  /**
   * Makes the file if there is none. Ends early when `signal` aborts.
   * @throws if the disk has no room for twice its size, because the last free space is of more use to the database.
   */
  setAside: (signal?: AbortSignal) => Promise<void>
  /** Moves the file to `path` and opens it for writing. Undefined if there is none. */
  take: (path: string) => Promise<FileHandle | undefined>
  /** Makes the file at `path` the reserve again, once its clicks are stored. */
  giveBack: (path: string) => Promise<void>
  /** Whether there is no file, though there should be one. */
  isMissing: () => boolean
}

/** A reserve of `bytes` in the journal's folder; 0 for none. */
export function openReserve(folder: string, bytes: number): Reserve {
  const path = join(folder, RESERVE_NAME)
  let isMissing = false
  return {
    async setAside(signal) {
      if (bytes === 0 || (await isWhole(path, bytes))) {
        isMissing = false
        return
      }
      isMissing = true
      const { bavail, bsize } = await statfs(folder)
      if (bavail * bsize < 2 * bytes) throw new Error('the disk of DATA_DIR has too little free space')
      isMissing = !(await fill(path, bytes, signal))
    },
    async take(to) {
      if (bytes === 0 || isMissing) return undefined
      isMissing = true
      try {
        // Another process of this folder may still be writing a file that is not whole.
        if (!(await isWhole(path, bytes))) return undefined
        await rename(path, to)
        return await open(to, constants.O_WRONLY)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
    },
    async giveBack(from) {
      const handle = await open(from, 'r+')
      try {
        await erase(handle)
        await handle.truncate(bytes)
        await handle.datasync()
      } finally {
        await handle.close()
      }
      await rename(from, path)
      isMissing = false
    },
    isMissing: () => isMissing,
  }
}

/** Whether the file has this size, and all its blocks on the disk: a copy of the folder may have left them out. */
async function isWhole(path: string, bytes: number): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && found.size === bytes && found.blocks * BLOCK_BYTES >= bytes
}

/** Writes the file; false if it was aborted. Leaves nothing behind unless it is whole. */
async function fill(path: string, bytes: number, signal: AbortSignal | undefined): Promise<boolean> {
  await unlink(path).catch(() => {})
  const handle = await open(path, 'wx', 0o600)
  try {
    const owner = otherOwner(dirname(path))
    if (owner) await handle.chown(owner.uid, owner.gid)
    for (let at = 0; at < bytes && signal?.aborted !== true; at += PIECE.length)
      await handle.appendFile(PIECE.subarray(0, Math.min(PIECE.length, bytes - at)))
    await handle.datasync()
  } finally {
    await handle.close()
    if (!(await isWhole(path, bytes))) await unlink(path).catch(() => {})
  }
  return isWhole(path, bytes)
}

/** Writes line breaks over the pieces that have anything else. */
async function erase(handle: FileHandle): Promise<void> {
  const piece = Buffer.alloc(PIECE.length)
  for (let at = 0; ; at += PIECE.length) {
    const { bytesRead } = await handle.read(piece, 0, piece.length, at)
    if (bytesRead === 0) return
    const blank = PIECE.subarray(0, bytesRead)
    if (!blank.equals(piece.subarray(0, bytesRead))) await handle.write(blank, 0, bytesRead, at)
  }
}
