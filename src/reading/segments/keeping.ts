/**
 * Keeps segments: sealing, checks, merging, emptying. They go on in a process of their own that runs behind this one, because making a fact of a
 * click costs a third of what redirecting its visitor does, who waits and comes first.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { constants, getPriority, setPriority } from 'node:os'
import type pg from 'pg'
import { BEHIND } from '../../ground/db/connect.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, organizationsWith, type Rounds } from '../../ground/rounds.ts'
import { NEXT_COUNTED } from './check.ts'
import type { Given } from './keeping-child.ts'
import { NEXT_WAITING } from './seal.ts'

/** So long a new installation, or one whose process has ended by a fault, waits for it at most. */
const PAUSE_MS = 10_000

/** Opens the keeping, which goes on until it is closed; any number of processes may have it. Its process begins with the first click there is. */
export function openKeeping(
  { config, database, log }: Pick<Ground, 'config' | 'database' | 'log'>,
  pause_ms = PAUSE_MS,
): Rounds {
  let child: ChildProcess | undefined
  let closing = false
  const begin = async () => {
    if (child !== undefined || !(await isAnyThere(database.worker))) return
    const { logLevel, secret, dataDir } = config
    const begun = started({ config: { logLevel, secret, dataDir }, addresses: database.addresses })
    begun.on('error', error => log.error({ err: error }, 'the process that seals clicks for Explore cannot be reached'))
    // Never begun, it never ends.
    if (begun.pid === undefined) return
    child = begun
    begun.once('exit', (code, signal) => {
      if (!closing) log.error({ code, signal }, 'the process that seals clicks for Explore has ended; it begins again')
      if (child === begun) child = undefined
    })
  }
  const rounds = openRounds('segments/keeping', pause_ms, begin, error =>
    log.warn({ err: error }, 'nobody knows whether clicks wait to be sealed for Explore; it is asked again'),
  )
  return {
    async close() {
      closing = true
      await rounds.close()
      const open = child
      if (open === undefined) return
      const ended = new Promise(resolve => open.once('exit', resolve))
      if (open.connected) open.disconnect()
      await ended
    },
  }
}

async function isAnyThere(pool: pg.Pool): Promise<boolean> {
  for (const next of [NEXT_WAITING, NEXT_COUNTED])
    if ((await organizationsWith(next, pool).next()).done !== true) return true
  return false
}

function started(given: Given): ChildProcess {
  const child = fork(new URL('./keeping-child.ts', import.meta.url), {
    serialization: 'advanced',
    // What it needs of the settings is sent, because others may read the environment of a process.
    env: { PATH: process.env['PATH'], TZ: 'UTC' },
    // Most of what it makes is thrown away at once; left alone, it would keep a hundred megabytes of that.
    execArgv: ['--max-semi-space-size=4'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  child.send(given)
  try {
    // Behind this process, which may itself have been started with a lower priority.
    if (child.pid !== undefined)
      setPriority(child.pid, Math.min(getPriority() + BEHIND, constants.priority.PRIORITY_LOW))
  } catch {
    // A system that does not allow it treats them alike.
  }
  return child
}
