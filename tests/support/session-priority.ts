/** The priority of a process's session. */
import { readFileSync } from 'node:fs'

/** The `nice` value of the session that the process belongs to; undefined if this kernel does not schedule by session. */
export function sessionPriority(pid: number): number | undefined {
  try {
    return Number(/nice (-?\d+)/.exec(readFileSync(`/proc/${pid}/autogroup`, 'utf8'))?.[1])
  } catch {
    return undefined
  }
}
