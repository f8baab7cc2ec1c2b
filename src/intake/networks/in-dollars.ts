/**
 * Converts payouts of postbacks into dollars, at the rate of the UTC day the postback arrived. If the conversion is already recorded, its rate is used
 * again, so that a repeated postback gives the same amount on any day. The events room converts amounts of verdicts, because it knows their
 * conversion.
 */
import { isCurrencyCode } from '../../contract/currencies.ts'
import { dayOf } from '../../contract/days.ts'
import type { Ground } from '../../ground/room.ts'
import { payoutInDollars } from '../../money/rates/payout.ts'
import { sourceOrder, type Rate, readRates, unknownRate } from '../../money/rates/rate-of-day.ts'
import { wantRates } from '../../money/rates/wanted.ts'
import { Diagnosed } from '../refused-events/diagnosis.ts'
import type { CallRead, VerdictRead } from './read-call.ts'

// A start has another id than its postback (`event_aliases`), and a held conversion is approved under another type of the same transaction.
const READ_BOOKED_RATE = `
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

/** Returns the converter. It throws `Diagnosed` if no rate is known or the payout is too large. */
export function payoutConverter({ database, config }: Pick<Ground, 'database' | 'config'>) {
  const pool = database.reads
  const rates = { pool, order: sourceOrder(config) }
  return async <Read extends CallRead | VerdictRead>(read: Read, received_at: number): Promise<Read> => {
    const { foreign } = read
    if (foreign === undefined) return read
    if (read.kind === 'revision') {
      await wantRates({ pool, config })
      return { ...read, received_at: new Date(received_at).toISOString() }
    }
    const { org_id, id, click_id, nonce, payload } = read
    const currencyDay = { currency: foreign.currency, day: dayOf(received_at) }
    const isCode = isCurrencyCode(foreign.currency)
    const values = [org_id, id, foreign.currency, click_id, nonce, payload?.['network_id']]
    const booked = isCode ? await pool.query<Rate>(READ_BOOKED_RATE, values) : undefined
    const rate = booked?.rows[0] ?? (isCode ? (await readRates(rates, org_id, [currencyDay]))(currencyDay) : undefined)
    if (rate === undefined) {
      await wantRates({ pool, config })
      throw new Diagnosed('rate_unknown', unknownRate(currencyDay).message)
    }
    const { dollars: payout, isTooMuch } = payoutInDollars(foreign.amount, rate.usd_per_unit)
    if (isTooMuch)
      throw new Diagnosed('payout_invalid', `the payout is ${foreign.amount} ${foreign.currency}, which is $${payout}`)
    const money = { original_amount: foreign.amount, currency: foreign.currency, ...rate }
    return { ...read, payout, money }
  }
}
