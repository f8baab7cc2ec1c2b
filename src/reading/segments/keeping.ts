/**
 * Keeps segments: sealing, checking, merging and emptying. These jobs run in a separate process with a lower priority, because making the fact of a
 * click takes a third as long as a redirect, and visitors come first.
 */
import { type ChildProcess, fork } from 'node:child_process'
import type pg from 'pg'
import { countCrash, measureChild } from '../../ground/child-metrics.ts'
import { runBehind } from '../../ground/priority.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, organizationsWith, type Rounds } from '../../ground/rounds.ts'
import { NEXT_COUNTED } from './check.ts'
import type { KeepingSettings } from './keeping-child.ts'
import { NEXT_WAITING } from './seal.ts'

/** The longest time without the process after the first click or a crash. */
const PAUSE_MS = 10_000

/** Opens the keeping; any number of processes may run it. Its process starts once there is a click. */
export function openKeeping(
  { config, database, log }: Pick<Ground, 'config' | 'database' | 'log'>,
  pause_ms = PAUSE_MS,
): Rounds {
  let child: ChildProcess | undefined
  let closing = false
  const begin = async () => {
    if (child !== undefined || !(await hasClicks(database.worker))) return
    const { logLevel, secret, dataDir } = config
    const begun = startKeeper({ config: { logLevel, secret, dataDir }, addresses: database.addresses })
    begun.on('error', error => log.error({ err: error }, 'the process that seals clicks for Explore cannot be reached'))
    // A process that could not start emits no exit.
    if (begun.pid === undefined) return
    child = begun
    measureChild('sealing', begun)
    begun.once('exit', (code, signal) => {
      if (!closing) {
        countCrash('sealing')
        log.error({ code, signal }, 'the process that seals clicks for Explore has ended; restarting it')
      }
      if (child === begun) child = undefined
    })
  }
  const rounds = openRounds('segments/keeping', pause_ms, begin, error =>
    log.warn({ err: error }, 'could not read whether clicks wait to be sealed for Explore; retrying'),
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

async function hasClicks(pool: pg.Pool): Promise<boolean> {
  for (const next of [NEXT_WAITING, NEXT_COUNTED])
    if ((await organizationsWith(next, pool).next()).done !== true) return true
  return false
}

function startKeeper(settings: KeepingSettings): ChildProcess {
  const child = fork(new URL('./keeping-child.ts', import.meta.url), {
    serialization: 'advanced',
    detached: true,
    // Settings are sent as a message, because others may read the environment of a process.
    env: { PATH: process.env['PATH'], TZ: 'UTC' },
    // Most of its objects are short-lived; without a limit it would hold a hundred megabytes of them.
    execArgv: ['--max-semi-space-size=4'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  child.send(settings)
  if (child.pid !== undefined) runBehind(child.pid)
  return child
}
