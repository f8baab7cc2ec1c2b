import { statSync } from 'node:fs'
import { lchown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'

type Owner = { readonly uid: number; readonly gid: number }

/**
 * The owner to give a file to that root has just created in another user's `folder`, because that user may start Sluice the next time. Undefined
 * if the owner is right already. Callers use `fchown` on the open file, because the folder's owner could replace its name by a link.
 */
export function otherOwner(folder: string): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined
  const { uid, gid } = statSync(folder)
  return uid === 0 ? undefined : { uid, gid }
}

/** Creates a folder in DATA_DIR, for its owner only, if there is none, and returns its path. */
export async function createFolderIn(dataDir: string, name: string): Promise<string> {
  const folder = join(dataDir, name)
  const made = await mkdir(folder, { recursive: true, mode: 0o700 })
  if (made === undefined) return folder
  const owner = otherOwner(dataDir)
  if (owner) await lchown(folder, owner.uid, owner.gid)
  return folder
}
