// Where the bundled server lies and whether it is newer than its sources. Each start asks this first, so it loads and reads as little as it can.
import { readdirSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const ROOT = dirname(import.meta.dirname)
/** The folder, beside package.json. */
export const SERVER = 'dist-server'
/** In it, what `src/start.ts` is in the sources. */
const START = join(ROOT, SERVER, 'start.js')
/** When the file was changed, in milliseconds; 0 where there is none. */
export function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/** When the newest of the files in `src` was changed that `counts`, which is given each path from `src/` on. */
export function newestSource(counts: (path: string) => boolean): number {
  let latest = 0
  for (const entry of readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() && counts(relative(ROOT, path))) latest = Math.max(latest, changedAt(path))
  }
  return latest
}

/** Whether there is a bundle that is newer than all its sources. */
export function isServerBundled(): boolean {
  const built = changedAt(START)
  if (built === 0) return false
  const others = ['rolldown.config.ts', 'package-lock.json'].map(name => changedAt(join(ROOT, name)))
  const isLoaded = (path: string) => !path.startsWith('src/web/') && !path.endsWith('.test.ts')
  return built > Math.max(newestSource(isLoaded), ...others)
}

/** What to import to start: the bundle, or the sources where the bundle is missing or older. */
export const programToStart = (): string => (isServerBundled() ? START : join(ROOT, 'src/start.ts'))
