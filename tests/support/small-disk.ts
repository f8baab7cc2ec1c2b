// A test's own disk that can be filled: a file system in memory, mounted below the temporary folder. Needs root.
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type SmallDisk = {
  folder: string
  /** Fills the disk, and keeps it full until `free`. */
  fill(): void
  free(): void
  end(): void
}

/** The reason to skip a test, or false. */
export function whyNoDisk(): string | false {
  try {
    mountSmallDisk(1).end()
    return false
  } catch (error) {
    return `no file system can be mounted: ${error instanceof Error ? error.message : String(error)}`
  }
}

const REFILL_MS = 20
const BLOCK = Buffer.alloc(65_536, 'x')

/** @throws if this user or container may not mount. */
export function mountSmallDisk(megabytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-disk-'))
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs', folder], {
    encoding: 'utf8',
  })
  if (mounted.status !== 0) {
    rmdirSync(folder)
    throw new Error(mounted.stderr?.trim() || String(mounted.error))
  }
  const filler = join(folder, 'filler')
  let file: number | undefined
  let timer: NodeJS.Timeout | undefined
  const fillUp = () => {
    file ??= openSync(filler, 'a')
    // Large pieces first, then down to the last page.
    for (let size = BLOCK.length; size >= 4096; ) {
      try {
        if (writeSync(file, BLOCK, 0, size) < size) size >>= 1
      } catch {
        size >>= 1
      }
    }
  }
  const free = () => {
    clearInterval(timer)
    if (file !== undefined) closeSync(file)
    file = undefined
    rmSync(filler, { force: true })
  }
  return {
    folder,
    fill() {
      fillUp()
      timer = setInterval(fillUp, REFILL_MS)
    },
    free,
    end() {
      free()
      // Lazily, because a killed process may count as a user for a moment.
      spawnSync('umount', ['-l', folder])
      rmdirSync(folder)
    },
  }
}
