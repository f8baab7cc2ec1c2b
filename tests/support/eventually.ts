// Waiting for something instead of sleeping.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/** Long, because a loaded machine is slow, and no test waits for speed. */
const PATIENCE_MS = 300_000

/** Resolves once `isSo` returns true; fails with `what` if it never does. */
export async function eventually(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + PATIENCE_MS; !(await isSo()); await sleep(20))
    assert.ok(performance.now() < deadline, `waited in vain: ${what}`)
}
