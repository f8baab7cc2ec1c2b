/**
 * The names of backups, and the removal of old ones. A backup that `--keep` made has a mark of SECRET in its name, so that no other file is removed:
 * neither a backup under a name that a person chose, nor one of another installation in the same folder.
 */
import { lstat, readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { DAY_MS } from '../contract/days.ts'
import type { SecretHere } from '../ground/db/secrets.ts'
import { hasSignature, UNFINISHED } from './file.ts'

/** A name cannot reveal SECRET by so few characters of its fingerprint, which the file itself contains. */
const markOf = ({ fingerprint }: SecretHere): string => fingerprint.slice(0, 8)

/** The name of a backup of this moment, with the mark of SECRET if `--keep` may remove it later. Names sort by time. */
export function nameBackup(now: Date, secret?: SecretHere): string {
  const at = now.toISOString().replace(/[-:]|\.\d+/g, '')
  return `sluice-${at}${secret === undefined ? '' : `-${markOf(secret)}`}.backup`
}

/**
 * Keeps the backup `path`, which has just been made, and the newest others of this installation in its folder, `keep` in all. Removes the rest, and
 * unfinished ones that nobody has written to for a day. Returns the names of the removed files.
 */
export async function removeOldBackups(path: string, keep: number, secret: SecretHere): Promise<string[]> {
  const [folder, newest] = [dirname(path), basename(path)]
  const own = new RegExp(`^sluice-\\d{8}T\\d{6}Z-${markOf(secret)}\\.backup(\\${UNFINISHED})?$`)
  const names = (await readdir(folder)).filter(name => own.test(name) && name !== newest)
  const removed: string[] = []
  let kept = 1
  for (const name of names.toSorted().toReversed()) {
    const file = join(folder, name)
    const stat = await lstat(file)
    if (!stat.isFile()) continue
    if (name.endsWith(UNFINISHED)) {
      if (Date.now() - stat.mtimeMs < DAY_MS) continue
    } else if (!(await hasSignature(file)) || ++kept <= keep) continue
    await rm(file)
    removed.push(name)
  }
  return removed
}
