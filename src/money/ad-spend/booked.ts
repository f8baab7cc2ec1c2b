/**
 * Spend that was not entered per cell, by its origin: `spread:<id>` or `account:<id>`. Writes `booked_spend`. Entered spend overrides it, and
 * a spread overrides an account; reports apply that (`reading/reports/spend.ts`).
 */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'

/** Spend of a campaign, UTC day (YYYY-MM-DD) and sub1. An empty sub1 covers the whole day. An amount of 0 overrides other costs of the cell without adding any. */
export type BookedCell = {
  readonly day: string
  readonly campaign_id: string
  readonly sub1: string
  readonly amount: string
}
type SpendOrigin = `spread:${string}` | `account:${string}`

/** Rows per statement. */
const BATCH_ROWS = 5000

/** Books these rows in the caller's transaction. The origin must have no rows in these cells yet. */
export async function bookSpend(
  db: Kysely<Tables>,
  org_id: number,
  origin: SpendOrigin,
  rows: readonly BookedCell[],
): Promise<void> {
  for (let at = 0; at < rows.length; at += BATCH_ROWS) {
    const batch = rows.slice(at, at + BATCH_ROWS)
    await sql`
      insert into booked_spend (org_id, day, campaign_id, sub1, origin, amount)
      select ${org_id}::int, booked.day, booked.campaign_id, booked.sub1, ${origin}::text, booked.amount
      from unnest(${batch.map(({ day }) => day)}::date[], ${batch.map(({ campaign_id }) => campaign_id)}::uuid[],
        ${batch.map(({ sub1 }) => sub1)}::text[], ${batch.map(({ amount }) => amount)}::numeric[])
        as booked (day, campaign_id, sub1, amount)`.execute(db)
  }
}

/** Deletes all booked rows of an origin, or those of one UTC day. The costs they overrode count again. */
export async function unbookSpend(
  db: Kysely<Tables>,
  org_id: number,
  origin: SpendOrigin,
  day?: string,
): Promise<void> {
  const rows = db.deleteFrom('booked_spend').where('org_id', '=', org_id).where('origin', '=', origin)
  await (day === undefined ? rows : rows.where('day', '=', day)).execute()
}
