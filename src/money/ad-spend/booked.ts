/**
 * Spend that was not entered cell by cell, by its origin: `spread:<id>` or `account:<id>`. Writes `booked_spend`. It gives way to what is
 * entered, and a spread goes before an account; reports see to that (`reading/reports/spend.ts`).
 */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'

/** Spend of a campaign, UTC day (YYYY-MM-DD) and sub1; without a sub1 it covers the day as a whole, and an amount of 0 covers without adding. */
export type Booking = {
  readonly day: string
  readonly campaign_id: string
  readonly sub1: string
  readonly amount: string
}
type Origin = `spread:${string}` | `account:${string}`

/** So many rows are one statement. */
const PORTION = 5000

/** Books these rows, of places that the origin has nothing at; in the caller's transaction. */
export async function book(
  db: Kysely<Tables>,
  org_id: number,
  origin: Origin,
  rows: readonly Booking[],
): Promise<void> {
  for (let at = 0; at < rows.length; at += PORTION) {
    const portion = rows.slice(at, at + PORTION)
    await sql`
      insert into booked_spend (org_id, day, campaign_id, sub1, origin, amount)
      select ${org_id}::int, booked.day, booked.campaign_id, booked.sub1, ${origin}::text, booked.amount
      from unnest(${portion.map(({ day }) => day)}::date[], ${portion.map(({ campaign_id }) => campaign_id)}::uuid[],
        ${portion.map(({ sub1 }) => sub1)}::text[], ${portion.map(({ amount }) => amount)}::numeric[])
        as booked (day, campaign_id, sub1, amount)`.execute(db)
  }
}

/** Takes all rows of an origin out of the books, or those of a UTC day. What they covered counts again. */
export async function unbook(db: Kysely<Tables>, org_id: number, origin: Origin, day?: string): Promise<void> {
  const rows = db.deleteFrom('booked_spend').where('org_id', '=', org_id).where('origin', '=', origin)
  await (day === undefined ? rows : rows.where('day', '=', day)).execute()
}
