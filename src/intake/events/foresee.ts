/**
 * Works out a conversion as the queue would, in a transaction that is rolled back: the same reads, decisions and writes, so that the effects are those
 * of the call itself. It takes the lock of the balance for a moment, as any conversion does.
 */
import type pg from 'pg'
import { Refusal, retryInAMinute } from '../../contract/refusals.ts'
import { isRetryable } from '../../ground/db/faults.ts'
import { ask, flight, flightOf } from '../../ground/db/flight.ts'
import type { Recorded } from './decide.ts'
import type { Conversion } from './items.ts'
import { decideBatch, type Terms, TooSlow } from './transact.ts'

export type ForeseenDelivery = {
  readonly kind: 'postback' | 'ad_account'
  readonly target_id: string
  readonly state: 'pending' | 'held' | 'skipped'
  readonly reason: string | null
}

/** The outcome that the conversion would have, the deliveries it would create, and the price charged for its person; null: the person is not charged. */
export type Foreseen = Recorded & {
  readonly deliveries: readonly ForeseenDelivery[]
  readonly charge: string | null
  readonly is_test: boolean
}

const DELIVERIES = `
  select id, kind, target_id, state, reason from deliveries where org_id = $1 and event_id = $2 order by kind, id`

/** Refuses as the conversion would be refused. Nothing is stored. @throws the database's error */
export async function foresee(pool: pg.Pool, terms: Terms, conversion: Conversion): Promise<Foreseen | Refusal> {
  const client = await pool.connect()
  try {
    const foreseen = await decideAndWrite(client, terms, conversion)
    await client.query('rollback')
    client.release()
    return foreseen
  } catch (error) {
    // Closing the connection ends its transaction, whatever its state.
    client.release(true)
    throw error instanceof TooSlow || isRetryable(error) ? retryInAMinute() : error
  }
}

async function decideAndWrite(
  client: pg.PoolClient,
  terms: Terms,
  conversion: Conversion,
): Promise<Foreseen | Refusal> {
  const { org_id } = conversion
  const { outcomes, writes, changes } = await decideBatch(client, new Map([[org_id, [conversion]]]), terms)
  const outcome = outcomes.get(conversion)
  if (outcome === undefined) return retryInAMinute()
  if (outcome instanceof Refusal) return outcome
  if (typeof outcome === 'boolean' || !('replayed' in outcome))
    throw new Error('a conversion got the outcome of another kind of item')
  const deliveriesOf = ask<ForeseenDelivery & { id: string }>(DELIVERIES, [org_id, outcome.event.id])
  const { before } = await flight(client, { before: deliveriesOf })
  await flightOf(client, writes)
  const { after } = await flight(client, { after: deliveriesOf })
  const known = new Set(before.map(({ id }) => id))
  const charged = changes.charges.at(0)?.amount
  return {
    ...outcome,
    deliveries: after.filter(({ id }) => !known.has(id)).map(({ id: _, ...delivery }) => delivery),
    charge: charged === undefined ? null : charged.replace('-', ''),
    is_test: changes.events.some(({ test }) => test),
  }
}
