/** The priority of background work, which nobody waits for. */
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { constants, getPriority, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

/** A `nice` value: beside a process that wants the whole processor, this one gets a tenth of that one's share. */
export const BEHIND = 10
/** The kernel lets a user other than root change one group in a tenth of a second. */
const NEXT_TRY_MS = 150
const TRIES = 40

/** A priority below this process's own, which may itself be low. */
const lowerThanOwn = () => Math.min(getPriority() + BEHIND, constants.priority.PRIORITY_LOW)

/**
 * Gives a process a low priority. Linux divides processors between sessions before it divides them within a session (sched(7), autogroup), and each
 * connection of PostgreSQL has a session of its own. So a session that this process leads gets the low priority too; start a child as `detached`, so
 * that it leads one. Where the system does not allow a change, the priority stays as it is.
 */
export function runBehind(pid: number, nice = lowerThanOwn()): void {
  try {
    setPriority(pid, nice)
  } catch {
    return
  }
  if (leadsSession(pid)) void lowerSession(pid, nice)
}

/** False also on systems other than Linux. A session that another process leads may have processes that must keep their priority. */
function leadsSession(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Behind the name, which may contain anything: state, parent, group, session.
    const session = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]
    return Number(session) === pid
  } catch {
    return false
  }
}

async function lowerSession(pid: number, nice: number): Promise<void> {
  for (let tries = 1; tries <= TRIES; tries += 1) {
    try {
      return await writeFile(`/proc/${pid}/autogroup`, String(nice))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
      await sleep(NEXT_TRY_MS, undefined, { ref: false })
    }
  }
}
