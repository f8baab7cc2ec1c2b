import { statSync } from 'node:fs'

type Owner = { readonly uid: number; readonly gid: number }

/**
 * Whom a file just made in `folder` has to be given to: the folder's owner, where root makes it in somebody else's. He may be the one who
 * starts Sluice the next time. Undefined where it is right as it is. Files are given by their handle, because the owner of a folder may put
 * a link in the place of a name.
 */
export function otherOwner(folder: string): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined
  const { uid, gid } = statSync(folder)
  return uid === 0 ? undefined : { uid, gid }
}
