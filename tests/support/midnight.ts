// For what is asked of "today": a test that begins before the end of the UTC day would end in another one.
import { setTimeout as sleep } from 'node:timers/promises'
import { DAY_MS } from '../../src/contract/days.ts'

const SPARE_MS = 60_000

/** Resolves at once, or in the last minute of a UTC day as soon as the next one has begun. */
export async function awayFromMidnight(): Promise<void> {
  const left_ms = DAY_MS - (Date.now() % DAY_MS)
  if (left_ms < SPARE_MS) await sleep(left_ms + 1)
}
