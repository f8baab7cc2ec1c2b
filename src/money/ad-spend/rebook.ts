/** Books what an ad account says, day by day. Writes `booked_spend`. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'

/** Spend of a campaign and sub1 in US dollars, a decimal string; without a sub1 it covers the campaign's day as a whole. */
export type BookedCell = { readonly campaign_id: string; readonly sub1: string; readonly amount: string }

type Place = { readonly org_id: number; readonly origin: `account:${string}`; readonly day: string }

/** Puts these cells in the place of all that the origin has booked on a UTC day, in the caller's transaction. No two of them are of one campaign and sub1. */
export async function rebookDay(
  db: Kysely<Tables>,
  { org_id, origin, day }: Place,
  cells: readonly BookedCell[],
): Promise<void> {
  await sql`delete from booked_spend where org_id = ${org_id} and origin = ${origin} and day = ${day}`.execute(db)
  if (cells.length === 0) return
  await sql`
    insert into booked_spend (org_id, day, campaign_id, sub1, origin, amount)
    select ${org_id}::int, ${day}::date, campaign_id, sub1, ${origin}::text, amount
    from unnest(${cells.map(({ campaign_id }) => campaign_id)}::uuid[], ${cells.map(({ sub1 }) => sub1)}::text[],
      ${cells.map(({ amount }) => amount)}::numeric[]) as cells (campaign_id, sub1, amount)`.execute(db)
}

/** Takes all that an origin has booked out of the books; what it covered counts again. */
export async function takeBack(db: Kysely<Tables>, org_id: number, origin: Place['origin']): Promise<void> {
  await sql`delete from booked_spend where org_id = ${org_id} and origin = ${origin}`.execute(db)
}
