/** What goes round behind the house again and again: sweeps, portions, looks. */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { type Among, askEverywhere } from './db/everywhere.ts'
import { watchRound } from './round-watch.ts'

export type Rounds = {
  /** Lets the round in hand end and begins no other. */
  close(): Promise<void>
}

/** Rounds that can be woken: the next one begins without a pause, behind the one in hand. */
type WakeableRounds = Rounds & { wake(): void }

/**
 * Begins at once and goes round until it is closed, with a pause of half of `pause_ms` to all of it: by chance, because several processes
 * would else meet at the same rows again and again. A round that throws is tried again with the next; `onError` hears of a fault that is not the
 * last one it heard of, and of the same one every ten minutes. How often in a row it has failed is in `/metrics` under `name`, which is the room's
 * and the file's. `signal` is aborted by the closing, for rounds that can end sooner.
 */
export function openRounds(
  name: string,
  pause_ms: number,
  round: (signal: AbortSignal) => Promise<unknown>,
  onError: (error: unknown) => void,
): WakeableRounds {
  const closing = new AbortController()
  const { signal } = closing
  const watch = watchRound(name)
  let woken = Promise.withResolvers<void>()
  const wake = () => woken.resolve()
  const run = async () => {
    while (!signal.aborted) {
      woken = Promise.withResolvers()
      await round(signal).then(
        () => watch.passed(),
        (error: unknown) => watch.failed(error, () => onError(error)),
      )
      if (signal.aborted) return
      const pause = new AbortController()
      const slept = sleep(pause_ms * (0.5 + Math.random() / 2), undefined, { signal: pause.signal }).catch(() => {})
      await Promise.race([woken.promise, slept])
      pause.abort()
    }
  }
  const ran = run()
  return {
    wake,
    async close() {
      closing.abort()
      wake()
      await ran
      watch.close()
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
