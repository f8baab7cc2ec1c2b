/**
 * The worker of the outbox: finds targets with due deliveries, claims as many as there are free call slots, sends them, and writes the outcomes. Any
 * number of processes may do this. Notifications wake it; its own search is authoritative.
 */
import { listen } from '../../ground/db/listen.ts'
import { openSharing } from '../../ground/db/sharing.ts'
import { guardedAgent, plainAgent } from '../../ground/guard.ts'
import type { Ground } from '../../ground/room.ts'
import type { BreakerTerms } from './breaker.ts'
import type { Agents, DeliveryTerms } from './deliver.ts'
import { Dispatch } from './dispatch.ts'
import type { Lane } from './lane.ts'
import { type SwitchOffNotice, sendSwitchOffNotice } from './notice.ts'
import { openOutcomeWriter } from './outcomes.ts'
import { openRuns } from './portions.ts'
import { openUnholding } from './release.ts'
import { SLOT_LIMITS, type SlotLimits, CallSlots } from './share.ts'

/** Settings that only tests change. */
export type DeliveryWorkerOptions = DeliveryTerms & { readonly limits?: SlotLimits; readonly breaker?: BreakerTerms }

export type DeliveryWorker = {
  /** Stops claiming, waits for calls in progress and writes their outcomes. */
  close(): Promise<void>
}

/** Starts sending the deliveries of these lanes. Deliveries of other kinds stay as they are. */
export function openDeliveryWorker(
  { config, database, log }: Pick<Ground, 'config' | 'database' | 'log'>,
  lanes: readonly Lane[],
  { limits = SLOT_LIMITS, breaker, ...terms }: DeliveryWorkerOptions = {},
): DeliveryWorker {
  const agents: Agents = {
    guarded: guardedAgent({ allowPrivate: config.allowPrivateTargets, connections: limits.origin }),
    // A platform serves all organizations, so calls to it are not limited by origin.
    trusting: plainAgent({ connections: limits.all }),
  }
  const mails = new Set<Promise<void>>()
  const mailOwners = (notice: SwitchOffNotice) => {
    const mail = sendSwitchOffNotice({ db: database.kysely, config, log }, notice).finally(() => mails.delete(mail))
    mails.add(mail)
  }
  const mostOrganizations = openSharing(database.worker)
  const outcomes = openOutcomeWriter({
    pool: database.worker,
    lanes,
    log,
    breaker,
    onSwitchedOff: mailOwners,
    mostOrganizations,
  })
  const setup = { pool: database.worker, log, agents, outcomes, terms, mostOrganizations }
  // Each kind has its own call slots, so that dead postbacks never delay ad accounts.
  const running = lanes.map(lane => new Dispatch(lane, { ...setup, slots: new CallSlots(limits) }))
  const wakeAll = () => running.forEach(one => one.wake())
  const listener = listen(database, 'deliveries', { onNotify: wakeAll, onReconnect: wakeAll })
  const unholding = openUnholding(database.worker, wakeAll, log)
  const runs = openRuns(database.worker, lanes, wakeAll, log)
  const end = async () => {
    const listening = listener.then(one => one.close())
    await Promise.all([unholding.close(), runs.close(), ...running.map(one => one.close())])
    await outcomes.close()
    await Promise.all(mails)
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
