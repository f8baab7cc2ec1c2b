/**
 * Lets go what was held for an empty balance, once there is a balance again or the organization holds nothing any more.
 * In the order it was put out, in portions, so that a long queue neither blocks nor floods.
 */
import type pg from 'pg'
import type { Logger } from 'pino'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import { inTransaction } from '../../ground/db/transaction.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'

const POLL_MS = 1000
const PORTION = 500

const FIND = (among: Among) => `
  select b.org_id
  from balances b
  where (b.balance >= 0 or not b.hold_when_empty)
    and exists (select 1 from deliveries d where d.org_id = b.org_id and d.state = 'held'${among('d.org_id')})${among('b.org_id')}`

// Held on to, so that no conversion takes the balance below zero again between this look and the release.
const STILL_MAY = `
  select 1 from balances where org_id = $1 and (balance >= 0 or not hold_when_empty) for update`

// Ids are made in order.
const LOCK = `
  select id from deliveries where org_id = $1 and state = 'held' order by id limit ${PORTION} for update skip locked`

// When it was due stays as it was, so that what was held first is sent first.
const RELEASE = `update deliveries set state = 'pending' where org_id = $1 and id = any($2::uuid[]) and state = 'held'`

/** Releases a portion of every organization that may have one; answers how many deliveries went. */
export async function releaseHeld(pool: pg.Pool): Promise<number> {
  const { rows } = await askEverywhere<{ org_id: number }>(pool, FIND)
  let released = 0
  for (const { org_id } of rows) {
    released += await inTransaction(pool, async client => {
      if ((await client.query(STILL_MAY, [org_id])).rowCount === 0) return 0
      const { rows: held } = await client.query<{ id: string }>(LOCK, [org_id])
      if (held.length === 0) return 0
      await client.query(RELEASE, [org_id, held.map(({ id }) => id)])
      return held.length
    })
  }
  return released
}

/** Looks each second, and calls `wake` when something was released. */
export function openRelease(pool: pg.Pool, wake: () => void, log: Logger): Rounds {
  const look = async () => {
    if ((await releaseHeld(pool)) > 0) wake()
  }
  return openRounds('deliveries/release', POLL_MS, look, error =>
    log.error({ err: error }, 'held deliveries could not be released'),
  )
}
