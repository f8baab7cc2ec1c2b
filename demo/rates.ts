// The demo's own euro rates, one per month, as agreed with the network that pays in euro. No source is called, and
// other organizations are not affected.
import type { Transaction } from 'kysely'
import { DAY_MS, dayOf } from '../src/contract/days.ts'
import { newId } from '../src/contract/ids.ts'
import type { Tables } from '../src/ground/db/tables.ts'
import type { Rate } from '../src/money/rates/rate-of-day.ts'

const MONTH_MS = 30 * DAY_MS
/** The first applies from the day the organization was created. */
const USD_PER_EURO = ['1.085', '1.092', '1.104', '1.098', '1.11'] as const

/** The rate of a conversion at `ms`. */
export function euroAt(founded: number, ms: number): Rate {
  const month = Math.min(Math.max(Math.floor((ms - founded) / MONTH_MS), 0), USD_PER_EURO.length - 1)
  const usd_per_unit = USD_PER_EURO[month] ?? USD_PER_EURO[0]
  return { usd_per_unit, rate_day: dayOf(founded + month * MONTH_MS), rate_source: 'own' }
}

/** Inserts them, each saved on its day. */
export async function insertRates(
  trx: Transaction<Tables>,
  { org_id, actor, founded, now }: { org_id: number; actor: string; founded: number; now: number },
): Promise<void> {
  const rows = USD_PER_EURO.map((usd_per_unit, month) => ({ usd_per_unit, ms: founded + month * MONTH_MS }))
  await trx
    .insertInto('org_rates')
    .values(
      rows
        .filter(({ ms }) => ms <= now)
        .map(({ usd_per_unit, ms }) => ({
          org_id,
          id: newId(ms),
          currency: 'EUR',
          from_day: dayOf(ms),
          usd_per_unit,
          note: 'Monthly rate of AffMine',
          actor,
          created_at: new Date(ms).toISOString(),
        })),
    )
    .execute()
}
