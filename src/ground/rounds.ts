/** What goes round behind the house again and again: sweeps, portions, looks. */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { type Among, askEverywhere } from './db/everywhere.ts'

export type Rounds = {
  /** Lets the round in hand end and begins no other. */
  close(): Promise<void>
}

/**
 * Begins at once and goes round until it is closed, with a pause of half of `pause_ms` to all of it: by chance, because several processes
 * would else meet at the same rows again and again. A round that throws is told to `onError` and tried again with the next. `signal` is
 * aborted by the closing, for rounds that can end sooner.
 */
export function openRounds(
  pause_ms: number,
  round: (signal: AbortSignal) => Promise<unknown>,
  onError: (error: unknown) => void,
): Rounds {
  const closing = new AbortController()
  const { signal } = closing
  const run = async () => {
    while (!signal.aborted) {
      await round(signal).catch(onError)
      await sleep(pause_ms * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {})
    }
  }
  const ran = run()
  return {
    async close() {
      closing.abort()
      await ran
    },
  }
}

/**
 * The organizations that have work, in the order of their numbers. `next` answers the `org_id` of the first one above $1 that has. Those whose
 * node of a cluster is away are left out.
 */
export async function* organizationsWith(
  next: (among: Among) => string,
  pool: Pick<pg.Pool, 'query'>,
  signal?: AbortSignal,
): AsyncGenerator<number> {
  for (let last = 0; signal?.aborted !== true; ) {
    const { rows } = await askEverywhere<{ org_id: number }>(pool, next, [last])
    if (rows[0] === undefined) return
    last = rows[0].org_id
    yield last
  }
}
