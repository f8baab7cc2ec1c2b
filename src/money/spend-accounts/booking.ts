/**
 * Books a UTC day of an account. Owns `account_spend`: what the platform says, by its ids. What of it is a campaign's is written to `booked_spend` in the
 * same transaction, and takes the place of all that the account has booked on that day: booked twice, nothing changes.
 */
import { type Kysely, sql } from 'kysely'
import { USD } from '../../contract/currencies.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import { book, type Booking as Cell, unbook } from '../ad-spend/booked.ts'
import { fromMillionths, toMillionths } from '../billing/money.ts'
import { inDollars } from '../rates/exact.ts'
import { orderOf, type Rate, readRates } from '../rates/rate-of-day.ts'
import { type Claimed, holdClaim } from './claims.ts'
import { recall, seeDay } from './matching.ts'

/** What an id has cost on a UTC day: `amount` in US dollars, by the rate of the day where the account bills in another currency. */
type Spent = {
  readonly external_id: string
  readonly name: string
  readonly amount: string
  readonly is_estimated: boolean
  readonly original_amount: string | null
}

type Paid = { readonly currency: string | null } & { readonly [K in keyof Rate]: Rate[K] | null }
type Row = Spent & Paid & { readonly campaign_id: string | null; readonly sub1: string }

const IN_DOLLARS: Paid = { currency: null, usd_per_unit: null, rate_day: null, rate_source: null }

export const originOf = (account_id: string) => `account:${account_id}` as const

/** What an id has cost in the currency the account bills in. */
export type Billed = Omit<Spent, 'original_amount'>

/**
 * Finds the campaigns of a day's spend and books it in US dollars. What is booked so already is not written again. Answers false, and leaves the day as it
 * is, where no rate of the currency is known for it. @throws LostClaim
 */
export async function bookDay(
  ground: Books,
  account: Claimed,
  day: string,
  { currency, billed }: { currency: string; billed: readonly Billed[] },
): Promise<boolean> {
  if (currency === USD || billed.length === 0) {
    await bookRows(
      ground,
      account,
      day,
      billed.map(one => ({ ...one, ...IN_DOLLARS, original_amount: null })),
    )
    return true
  }
  const rate = await rateOf(ground, account, day, currency)
  if (rate === undefined) return false
  const paid = billed.map(one => ({
    ...one,
    ...rate,
    currency,
    amount: inDollars(one.amount, rate.usd_per_unit),
    original_amount: one.amount,
  }))
  await bookRows(ground, account, day, paid)
  return true
}

type Books = Pick<Ground, 'config' | 'db' | 'database'>

/** The rate a day was booked by goes on to hold for it, whatever rates came later. */
async function rateOf(
  { config, db, database }: Books,
  { org_id, id }: Claimed,
  day: string,
  currency: string,
): Promise<Rate | undefined> {
  const { rows } = await sql<Rate>`
    select usd_per_unit, rate_day, rate_source from account_spend
    where org_id = ${org_id} and account_id = ${id} and day = ${day} and currency = ${currency}
    limit 1`.execute(db)
  if (rows[0] !== undefined) return rows[0]
  const rates = await readRates({ pool: database.reads, order: orderOf(config) }, org_id, [{ currency, day }])
  return rates({ currency, day })
}

/** Books a day again with what the platform said then, once more of its campaigns are known. @throws LostClaim */
export async function bookDayAgain(ground: Books, account: Claimed, day: string): Promise<void> {
  await bookRows(ground, account, day, await readDay(ground.db, account, day))
}

async function bookRows(ground: Books, account: Claimed, day: string, spent: readonly (Spent & Paid)[]) {
  const ids = spent.map(({ external_id }) => external_id)
  const seen = await seeDay(ground, account, day, ids)
  await ground.db.transaction().execute(async trx => {
    await holdClaim(trx, account)
    const matches = await recall(trx, account, day, ids, seen)
    const rows = spent.map(one => ({
      ...one,
      campaign_id: matches.get(one.external_id) ?? null,
      sub1: account.id_in === 'sub1' ? one.external_id : '',
    }))
    const stored = await readDay(trx, account, day)
    if (textOf(stored) === textOf(rows)) return
    await replaceDay(trx, account, day, rows)
    await unbook(trx, account.org_id, originOf(account.id), day)
    await book(trx, account.org_id, originOf(account.id), cellsOf(rows, day))
  })
}

async function readDay(db: Kysely<Tables>, { org_id, id }: Claimed, day: string): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select external_id, name, amount, is_estimated, campaign_id, sub1, original_amount, currency, usd_per_unit, rate_day, rate_source
    from account_spend
    where org_id = ${org_id} and account_id = ${id} and day = ${day}`.execute(db)
  return rows
}

/** Rows as a text, the same for equal ones in whatever order. A rate holds for the whole day, so the amounts tell it. */
const textOf = (rows: readonly Row[]): string =>
  JSON.stringify(
    rows
      .map(row => [
        row.external_id,
        row.name,
        toMillionths(row.amount).toString(),
        row.original_amount === null ? null : toMillionths(row.original_amount).toString(),
        row.currency,
        row.is_estimated,
        row.campaign_id,
        row.sub1,
      ])
      .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  )

async function replaceDay(
  db: Kysely<Tables>,
  { org_id, id }: Claimed,
  day: string,
  rows: readonly Row[],
): Promise<void> {
  await sql`delete from account_spend where org_id = ${org_id} and account_id = ${id} and day = ${day}`.execute(db)
  if (rows.length === 0) return
  const column = <K extends keyof Row>(name: K) => rows.map(row => row[name])
  await sql`
    insert into account_spend (org_id, account_id, day, external_id, name, amount, is_estimated, campaign_id, sub1,
      original_amount, currency, usd_per_unit, rate_day, rate_source)
    select ${org_id}::int, ${id}::uuid, ${day}::date, spent.*
    from unnest(${column('external_id')}::text[], ${column('name')}::text[], ${column('amount')}::numeric[],
      ${column('is_estimated')}::boolean[], ${column('campaign_id')}::uuid[], ${column('sub1')}::text[],
      ${column('original_amount')}::numeric[], ${column('currency')}::text[], ${column('usd_per_unit')}::numeric[],
      ${column('rate_day')}::date[], ${column('rate_source')}::text[]) as spent`.execute(db)
}

/** Forgets all that an account has ever told. */
export async function forgetSpend(db: Kysely<Tables>, org_id: number, id: string): Promise<void> {
  await sql`delete from account_spend where org_id = ${org_id} and account_id = ${id}`.execute(db)
}

/** One amount per campaign and sub1. Spend without a campaign is in none. */
function cellsOf(rows: readonly Row[], day: string): Cell[] {
  const known = rows.filter((row): row is Row & { campaign_id: string } => row.campaign_id !== null)
  const placed = Map.groupBy(known, ({ campaign_id, sub1 }) => `${campaign_id} ${sub1}`)
  return [...placed.values()].flatMap(list => {
    const [first] = list
    if (first === undefined) return []
    const amount = fromMillionths(list.reduce((sum, row) => sum + toMillionths(row.amount), 0n))
    return [{ day, campaign_id: first.campaign_id, sub1: first.sub1, amount }]
  })
}
