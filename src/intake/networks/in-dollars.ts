/**
 * Payouts that networks send in other currencies, turned into dollars: by the rate of the UTC day the call came, or, where the conversion is
 * recorded already, by the rate it was booked by, so that the same call says the same on any day. Amounts of verdicts are turned where their
 * conversion is known, in the room of events.
 */
import { isCurrencyCode } from '../../contract/currencies.ts'
import { dayOf } from '../../contract/days.ts'
import { MAX_PAYOUT } from '../../contract/fields.ts'
import type { Ground } from '../../ground/room.ts'
import { toMillionths } from '../../money/billing/money.ts'
import { inDollars } from '../../money/rates/exact.ts'
import { sourceOrder, type Rate, readRates, unknownRate } from '../../money/rates/rate-of-day.ts'
import { wantRates } from '../../money/rates/wanted.ts'
import { Diagnosed } from '../refused-events/diagnosis.ts'
import type { CallRead, VerdictRead } from './read-call.ts'

// A start's own identity is another than its call's; and what was held is approved under another type of the same transaction.
const BOOKED = `
  select usd_per_unit, rate_day, rate_source
  from event_money
  where org_id = $1 and currency = $3 and event_id in (
    select $2::uuid
    union all
    select event_id from event_aliases where org_id = $1 and id = $2
    union all
    select e.id from events e
    join event_revisions r on r.org_id = $1 and r.event_id = e.id and r.status = 'pending'
    where e.org_id = $1 and e.click_id = $4 and e.nonce = $5 and e.payload->>'network_id' = $6)
  order by event_id = $2 desc limit 1`

/** The way of a network's call into dollars. Throws `Diagnosed` where no rate is known or it comes to more than a payout may. */
export function dollarsOf({ database, config }: Pick<Ground, 'database' | 'config'>) {
  const pool = database.reads
  const asked = { pool, order: sourceOrder(config) }
  return async <Read extends CallRead | VerdictRead>(read: Read, received_at: number): Promise<Read> => {
    const { foreign } = read
    if (foreign === undefined) return read
    if (read.kind === 'revision') {
      await wantRates({ pool, config })
      return { ...read, received_at: new Date(received_at).toISOString() }
    }
    const { org_id, id, click_id, nonce, payload } = read
    const place = { currency: foreign.currency, day: dayOf(received_at) }
    const isCode = isCurrencyCode(foreign.currency)
    const said = [org_id, id, foreign.currency, click_id, nonce, payload?.['network_id']]
    const booked = isCode ? await pool.query<Rate>(BOOKED, said) : undefined
    const rate = booked?.rows[0] ?? (isCode ? (await readRates(asked, org_id, [place]))(place) : undefined)
    if (rate === undefined) {
      await wantRates({ pool, config })
      throw new Diagnosed('rate_unknown', unknownRate(place).message)
    }
    const payout = inDollars(foreign.amount, rate.usd_per_unit)
    if (toMillionths(payout) > toMillionths(String(MAX_PAYOUT)))
      throw new Diagnosed('payout_invalid', `the payout is ${foreign.amount} ${foreign.currency}, which is $${payout}`)
    const money = { original_amount: foreign.amount, currency: foreign.currency, ...rate }
    return { ...read, payout, money }
  }
}
