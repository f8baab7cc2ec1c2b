/**
 * Keeps segments: sealing, checking, merging and emptying. These jobs run in a separate process with a lower priority, because making the fact of a
 * click takes a third as long as a redirect, and visitors come first.
 */
import { type ChildProcess, fork } from 'node:child_process'
import type pg from 'pg'
import { childEnvironment } from '../../ground/child-environment.ts'
import { countCrash, measureChild } from '../../ground/child-metrics.ts'
import { runBehind } from '../../ground/priority.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, organizationsWith, type Rounds } from '../../ground/rounds.ts'
import { NEXT_COUNTED } from './check.ts'
import type { KeepingSettings } from './keeping-child.ts'
import { NEXT_WAITING } from './seal.ts'

/** The longest time without the process after this one has started, after the first click, and after a crash. */
const PAUSE_MS = 10_000

/** Opens the keeping; any number of processes may run it. Its process starts once there is a click. */
export function openKeeping(
  { config, database, log }: Pick<Ground, 'config' | 'database' | 'log'>,
  pause_ms = PAUSE_MS,
): Rounds {
  let child: ChildProcess | undefined
  let hasBegun = false
  let closing = false
  const begin = () => {
    const { logLevel, secret, dataDir } = config
    const { addresses, isBehind } = database
    const begun = startKeeper({ config: { logLevel, secret, dataDir }, addresses, isBehind })
    begun.on('error', error => log.error({ err: error }, 'the process that seals clicks for Explore cannot be reached'))
    // A process that could not start emits no exit.
    if (begun.pid === undefined) return
    child = begun
    hasBegun = false
    begun.once('message', () => (hasBegun = true))
    measureChild('sealing', begun)
    begun.once('exit', (code, signal) => {
      if (!closing) {
        countCrash('sealing')
        log.error({ code, signal }, 'the process that seals clicks for Explore has ended; restarting it')
      }
      if (child === begun) child = undefined
    })
  }
  // Looks only after the first pause, so that the process does not start while this one does.
  let isFirst = true
  const look = async () => {
    if (isFirst) isFirst = false
    else if (child === undefined && (await hasClicks(database.worker))) begin()
  }
  const rounds = openRounds('segments/keeping', pause_ms, look, error =>
    log.warn({ err: error }, 'could not read whether clicks wait to be sealed for Explore; retrying'),
  )
  return {
    async close() {
      closing = true
      await rounds.close()
      const open = child
      if (open === undefined) return
      const ended = new Promise(resolve => open.once('exit', resolve))
      // A process that has not begun its jobs has nothing to finish. Its start takes long if all processors are busy.
      if (!hasBegun) open.kill('SIGKILL')
      else if (open.connected) open.disconnect()
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
    // Settings are sent as a message.
    env: childEnvironment(),
    // Most of its objects are short-lived; without a limit it would hold a hundred megabytes of them.
    execArgv: ['--max-semi-space-size=4'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  child.send(settings)
  if (settings.isBehind && child.pid !== undefined) runBehind(child.pid)
  return child
}
