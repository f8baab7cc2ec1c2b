/**
 * Works the outbox off: finds targets with deliveries due, claims as many as there are places, calls, writes down. Any number of
 * processes may do so at once. Notifications wake it, a poll each second is the truth.
 */
import { listen } from '../../ground/db/listen.ts'
import { openSharing } from '../../ground/db/sharing.ts'
import { guardedAgent, plainAgent } from '../../ground/guard.ts'
import type { Ground } from '../../ground/room.ts'
import type { BreakerTerms } from './breaker.ts'
import type { Agents, Terms } from './deliver.ts'
import { Dispatch } from './dispatch.ts'
import type { Lane } from './lane.ts'
import { type Notice, sendNotice } from './notice.ts'
import { openOutcomes } from './outcomes.ts'
import { openRuns } from './portions.ts'
import { openRelease } from './release.ts'
import { LIMITS, type Limits, Places } from './share.ts'

/** What tests set differently. */
export type WorkerOptions = Terms & { readonly limits?: Limits; readonly breaker?: BreakerTerms }

export type Worker = {
  /** Claims nothing new, ends what is in hand and writes it down. */
  close(): Promise<void>
}

/** Starts working off the deliveries of these lanes; those of other kinds stay as they are. */
export function openWorker(
  { config, database, log }: Pick<Ground, 'config' | 'database' | 'log'>,
  lanes: readonly Lane[],
  { limits = LIMITS, breaker, ...terms }: WorkerOptions = {},
): Worker {
  const agents: Agents = {
    guarded: guardedAgent({ allowPrivate: config.allowPrivateTargets, connections: limits.origin }),
    // One platform serves everyone, so its origin is not what limits it.
    trusting: plainAgent({ connections: limits.all }),
  }
  const telling = new Set<Promise<void>>()
  const tell = (notice: Notice) => {
    const told = sendNotice({ db: database.kysely, config, log }, notice).finally(() => telling.delete(told))
    telling.add(told)
  }
  const mostOrganizations = openSharing(database.worker)
  const outcomes = openOutcomes({ pool: database.worker, lanes, log, breaker, tell, mostOrganizations })
  const setup = { pool: database.worker, log, agents, outcomes, terms, mostOrganizations }
  // Each kind has places of its own, so that dead postbacks never hold up an ad account.
  const running = lanes.map(lane => new Dispatch(lane, { ...setup, places: new Places(limits) }))
  const wakeAll = () => running.forEach(one => one.wake())
  const ear = listen(database, 'deliveries', { told: wakeAll, again: wakeAll })
  const release = openRelease(database.worker, wakeAll, log)
  const runs = openRuns(database.worker, lanes, wakeAll, log)
  const end = async () => {
    const listening = ear.then(one => one.close())
    await Promise.all([release.close(), runs.close(), ...running.map(one => one.close())])
    await outcomes.close()
    await Promise.all(telling)
    await Promise.all([listening, agents.guarded.close(), agents.trusting.close()])
  }
  let ending: Promise<void> | undefined
  return {
    close() {
      ending ??= end()
      return ending
    },
  }
}
