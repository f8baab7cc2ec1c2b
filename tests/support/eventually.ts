// Waiting for something instead of sleeping.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/** Long, because a loaded machine is slow, and no test waits for speed. */
const PATIENCE_MS = 300_000
const FIRST_MS = 10
const MOST_MS = 100
/** The pause before the next check, as a part of the time waited, so that tests that wait leave the processors to what they wait for. */
const PART = 1 / 5

/** Resolves once `isSo` returns true; fails with `what` if it never does. */
export async function eventually(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const began = performance.now()
  while (!(await isSo())) {
    const waited = performance.now() - began
    assert.ok(waited < PATIENCE_MS, `waited in vain: ${what}`)
    await sleep(Math.min(Math.max(waited * PART, FIRST_MS), MOST_MS))
  }
}
