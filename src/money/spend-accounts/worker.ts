/** Goes round the spend accounts of all organizations and reads those that are due, a few at a time. Any number of processes may. */
import type { Ground } from '../../ground/room.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'
import { claimAccount, dueAccounts, LEASE_MS } from './claims.ts'
import { type Syncing, syncAccount } from './sync.ts'

/** Whoever connects an account waits in front of the screen. */
const POLL_MS = 2000
/** One slow platform holds up no other account, and no process is busy with this alone. */
const AT_ONCE = 4

type Look = { readonly now?: number; readonly signal?: AbortSignal; readonly lease_ms?: number }

/** Reads every account that is due and that no other process reads; answers how many. `now` in Unix milliseconds. */
export async function syncDueAccounts(
  ground: Syncing,
  { now = Date.now(), signal = new AbortController().signal, lease_ms = LEASE_MS }: Look = {},
): Promise<number> {
  const due = await dueAccounts(ground)
  let read = 0
  const take = async () => {
    for (let next = due.shift(); next !== undefined && !signal.aborted; next = due.shift()) {
      const claimed = await claimAccount(ground.db, next, lease_ms)
      if (claimed === undefined) continue
      read += 1
      await syncAccount(ground, claimed, { now, signal }).catch((error: unknown) =>
        ground.log.warn({ err: error }, 'a spend account could not be booked; it is tried again'),
      )
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, take))
  return read
}

/** Looks every few seconds until it is closed. */
export function openSpendSync(ground: Ground): Rounds {
  return openRounds(
    'spend-accounts/worker',
    POLL_MS,
    signal => syncDueAccounts(ground, { signal }),
    error => ground.log.warn({ err: error }, 'spend accounts could not be looked at; it is tried again'),
  )
}
