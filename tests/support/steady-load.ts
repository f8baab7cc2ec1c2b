// Reports conversions at a steady rate, however long each takes, for the soak test.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Load, Target } from './load.ts'

/** A hundred clicks and a hundred conversions a second in all, within the quotas of four organizations. */
const EVERY_MS = 10
const IN_FLIGHT = 400

/** Until `until` (performance clock), sends a click and its conversion every 10 ms, each for the next target and a new person. */
export async function reportSteadily(load: Load, targets: readonly Target[], until: number): Promise<void> {
  const underWay = new Set<Promise<void>>()
  const one = async (target: Target, nonce: string) => {
    const clickId = await load.click(target)
    if (clickId !== undefined)
      await load.report(target, { clickId, type: 'ftd', nonce, payload: { telegram_user_id: nonce } })
  }
  const begun = performance.now()
  for (let sent = 0; performance.now() < until; sent += 1) {
    const sending = one(targets[sent % targets.length] ?? assert.fail(), `n${sent}`)
    underWay.add(sending)
    void sending.finally(() => underWay.delete(sending))
    if (underWay.size >= IN_FLIGHT) await Promise.race(underWay)
    await sleep(Math.max(0, begun + sent * EVERY_MS - performance.now()))
  }
  await Promise.all(underWay)
}
