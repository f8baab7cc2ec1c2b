import { statSync } from 'node:fs'

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
