/**
 * Unholds deliveries that were held for an empty balance, once the balance is no longer below zero or the organization stops holding. In the order
 * they were created, and in batches, so that a long queue neither blocks nor floods.
 */
import type pg from 'pg'
import type { Logger } from 'pino'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import { inTransaction } from '../../ground/db/transaction.ts'
import { openQuiet } from '../../ground/db/quiet.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'

const POLL_MS = 1000
const BATCH_DELIVERIES = 500

const FIND_UNHOLDABLE = (among: Among) => `
  select b.org_id
  from balances b
  where (b.balance >= 0 or not b.hold_when_empty)
    and exists (select 1 from deliveries d where d.org_id = b.org_id and d.state = 'held'${among('d.org_id')})${among('b.org_id')}`

// Locked, so that no conversion takes the balance below zero before the deliveries are unheld.
const LOCK_BALANCE = `
  select 1 from balances where org_id = $1 and (balance >= 0 or not hold_when_empty) for update`

// Ids are in the order of creation.
const LOCK_HELD = `
  select id from deliveries where org_id = $1 and state = 'held' order by id limit ${BATCH_DELIVERIES} for update skip locked`

// `run_at` stays as it was, so that the first held is sent first.
const UNHOLD = `update deliveries set state = 'pending' where org_id = $1 and id = any($2::uuid[]) and state = 'held'`

/** Unholds a batch of every organization that may send again. Returns the number of deliveries. */
export async function unholdDeliveries(pool: pg.Pool): Promise<number> {
  const { rows } = await askEverywhere<{ org_id: number }>(pool, FIND_UNHOLDABLE)
  let unheld = 0
  for (const { org_id } of rows) {
    unheld += await inTransaction(pool, async client => {
      if ((await client.query(LOCK_BALANCE, [org_id])).rowCount === 0) return 0
      const { rows: held } = await client.query<{ id: string }>(LOCK_HELD, [org_id])
      if (held.length === 0) return 0
      await client.query(UNHOLD, [org_id, held.map(({ id }) => id)])
      return held.length
    })
  }
  return unheld
}

/** Unholds deliveries, and calls `wake` if there were any. */
export function openUnholding(pool: pg.Pool, wake: () => void, log: Logger): Rounds {
  const unholdAndWake = async () => {
    if ((await unholdDeliveries(pool)) > 0) wake()
  }
  const onError = (error: unknown) => log.error({ err: error }, 'could not unhold deliveries; retrying')
  return openRounds('deliveries/release', POLL_MS, unholdAndWake, onError, openQuiet(pool))
}
