/** Periodic jobs. */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { type Among, askEverywhere } from './db/everywhere.ts'
import { QUIET_MS, type Quiet } from './db/quiet.ts'
import { watchRound } from './round-watch.ts'

export type Rounds = {
  /** Lets the current run end and begins no other. */
  close(): Promise<void>
}

/** `wake` begins the next run without a pause, after the current one. */
type WakeableRounds = Rounds & { wake(): void }

/**
 * Runs `round` at once and then again and again until it is closed. The pause is random, between half of `pause_ms` and all of it, so that several
 * processes do not keep meeting at the same rows. A run that throws is followed by the next as usual; `onError` gets a new error, and the same one
 * every ten minutes. `/metrics` shows the failures in a row under `name`, which names the room and the file. Closing aborts `signal`, for runs that
 * can end sooner. With `quiet` a run that succeeded is followed by the next only once the database may have changed or work may be due; the
 * rounds close it.
 */
export function openRounds(
  name: string,
  pause_ms: number,
  round: (signal: AbortSignal) => Promise<unknown>,
  onError: (error: unknown) => void,
  quiet?: Quiet,
): WakeableRounds {
  const closing = new AbortController()
  const { signal } = closing
  const watch = watchRound(name)
  let woken = Promise.withResolvers<void>()
  const wake = () => woken.resolve()
  const run = async () => {
    while (!signal.aborted) {
      woken = Promise.withResolvers()
      const version = quiet?.version()
      const hasPassed = await round(signal).then(
        () => {
          watch.passed()
          return true
        },
        (error: unknown) => {
          watch.failed(error, () => onError(error))
          return false
        },
      )
      if (signal.aborted) return
      const pause = new AbortController()
      const slept = sleep(pause_ms * (0.5 + Math.random() / 2), undefined, { signal: pause.signal }).catch(() => {})
      await Promise.race([woken.promise, slept])
      pause.abort()
      // A job that looks more often than the quiet is checked does not wait for it.
      if (hasPassed && quiet !== undefined && version !== undefined && pause_ms >= QUIET_MS)
        await Promise.race([woken.promise, quiet.since(version)])
    }
  }
  const ran = run()
  return {
    wake,
    async close() {
      closing.abort()
      wake()
      await ran
      quiet?.close()
      watch.close()
    },
  }
}

/**
 * The organizations that have work, in the order of their `org_id`. `next` selects the first `org_id` above $1 that has work. Organizations whose
 * cluster node is away are left out.
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
