/** Reads the due spend accounts of all organizations, a few at a time. Any number of processes may do this. */
import type { Ground } from '../../ground/room.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'
import { openQuiet } from '../../ground/db/quiet.ts'
import { claimAccount, dueAccounts, ACCOUNT_LEASE_MS } from './claims.ts'
import { type SyncGround, syncAccount } from './sync.ts'

/** Short, because a person who connects an account watches the screen. */
const POLL_MS = 2000
/** Accounts read at once: a slow platform must not block the others, and reading must not use up the process. */
const AT_ONCE = 4

type SyncOptions = { readonly now?: number; readonly signal?: AbortSignal; readonly lease_ms?: number }

/** Reads every due account that no other process reads. Returns their number. `now` in Unix milliseconds. */
export async function syncDueAccounts(
  ground: SyncGround,
  { now = Date.now(), signal = new AbortController().signal, lease_ms = ACCOUNT_LEASE_MS }: SyncOptions = {},
): Promise<number> {
  const due = await dueAccounts(ground)
  let read = 0
  const readNext = async () => {
    for (let next = due.shift(); next !== undefined && !signal.aborted; next = due.shift()) {
      const claimed = await claimAccount(ground.db, next, lease_ms)
      if (claimed === undefined) continue
      read += 1
      await syncAccount(ground, claimed, { now, signal }).catch((error: unknown) =>
        ground.log.warn({ err: error }, 'could not book the spend of an account; retrying'),
      )
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, readNext))
  return read
}

/** Reads due accounts every few seconds until it is closed. */
export function openSpendSync(ground: Ground): Rounds {
  return openRounds(
    'spend-accounts/worker',
    POLL_MS,
    signal => syncDueAccounts(ground, { signal }),
    error => ground.log.warn({ err: error }, 'could not check which spend accounts are due; retrying'),
    openQuiet(
      ground.database.worker,
      among => `select min(due_at) as at from spend_accounts where due_at > now()${among('org_id')}`,
    ),
  )
}
