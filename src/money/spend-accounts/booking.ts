/**
 * Books a UTC day of an account. Owns `account_spend`, the platform's spend by its ids. The same transaction replaces the account's rows of that
 * day in `booked_spend` by the spend of matched campaigns, so booking a day twice changes nothing.
 */
import { type Kysely, sql } from 'kysely'
import { USD } from '../../contract/currencies.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import { bookSpend, type BookedCell, unbookSpend } from '../ad-spend/booked.ts'
import { fromMillionths, toMillionths } from '../billing/money.ts'
import { inDollars } from '../rates/exact.ts'
import { sourceOrder, type Rate, readRates } from '../rates/rate-of-day.ts'
import { type ClaimedAccount, lockClaim } from './claims.ts'
import { rememberMatches, matchDay } from './matching.ts'

/** The spend of one of the platform's ids on a UTC day: `amount` in US dollars, at the rate of the day if the account bills in another currency. */
type SpentId = {
  readonly external_id: string
  readonly name: string
  readonly amount: string
  readonly is_estimated: boolean
  readonly original_amount: string | null
}

type RateColumns = { readonly currency: string | null } & { readonly [K in keyof Rate]: Rate[K] | null }
type AccountSpendRow = SpentId & RateColumns & { readonly campaign_id: string | null; readonly sub1: string }

const NO_RATE: RateColumns = { currency: null, usd_per_unit: null, rate_day: null, rate_source: null }

export const originOf = (account_id: string) => `account:${account_id}` as const

/** The spend of one of the platform's ids in the account's currency. */
export type BilledId = Omit<SpentId, 'original_amount'>

/**
 * Finds the campaigns of a day's spend and books it in US dollars. Writes nothing if the same is booked already. Returns false and leaves the
 * day as it is if there is no rate for it. @throws LostClaim
 */
export async function bookDay(
  ground: BookingGround,
  account: ClaimedAccount,
  day: string,
  { currency, billedIds }: { currency: string; billedIds: readonly BilledId[] },
): Promise<boolean> {
  if (currency === USD || billedIds.length === 0) {
    await bookRows(
      ground,
      account,
      day,
      billedIds.map(one => ({ ...one, ...NO_RATE, original_amount: null })),
    )
    return true
  }
  const rate = await rateOf(ground, account, day, currency)
  if (rate === undefined) return false
  const converted = billedIds.map(one => ({
    ...one,
    ...rate,
    currency,
    amount: inDollars(one.amount, rate.usd_per_unit),
    original_amount: one.amount,
  }))
  await bookRows(ground, account, day, converted)
  return true
}

type BookingGround = Pick<Ground, 'config' | 'db' | 'database'>

/** A day keeps the rate it was first booked at. */
async function rateOf(
  { config, db, database }: BookingGround,
  { org_id, id }: ClaimedAccount,
  day: string,
  currency: string,
): Promise<Rate | undefined> {
  const { rows } = await sql<Rate>`
    select usd_per_unit, rate_day, rate_source from account_spend
    where org_id = ${org_id} and account_id = ${id} and day = ${day} and currency = ${currency}
    limit 1`.execute(db)
  if (rows[0] !== undefined) return rows[0]
  const rates = await readRates({ pool: database.reads, order: sourceOrder(config) }, org_id, [{ currency, day }])
  return rates({ currency, day })
}

/** Books a day again from the stored spend, after more of its campaigns were found. @throws LostClaim */
export async function bookDayAgain(ground: BookingGround, account: ClaimedAccount, day: string): Promise<void> {
  await bookRows(ground, account, day, await readDay(ground.db, account, day))
}

async function bookRows(
  ground: BookingGround,
  account: ClaimedAccount,
  day: string,
  spent: readonly (SpentId & RateColumns)[],
) {
  const ids = spent.map(({ external_id }) => external_id)
  const seen = await matchDay(ground, account, day, ids)
  await ground.db.transaction().execute(async trx => {
    await lockClaim(trx, account)
    const matches = await rememberMatches(trx, account, day, ids, seen)
    const rows = spent.map(one => ({
      ...one,
      campaign_id: matches.get(one.external_id) ?? null,
      sub1: account.id_in === 'sub1' ? one.external_id : '',
    }))
    const stored = await readDay(trx, account, day)
    if (comparable(stored) === comparable(rows)) return
    await replaceDay(trx, account, day, rows)
    await unbookSpend(trx, account.org_id, originOf(account.id), day)
    await bookSpend(trx, account.org_id, originOf(account.id), bookedCells(rows, day))
  })
}

async function readDay(db: Kysely<Tables>, { org_id, id }: ClaimedAccount, day: string): Promise<AccountSpendRow[]> {
  const { rows } = await sql<AccountSpendRow>`
    select external_id, name, amount, is_estimated, campaign_id, sub1, original_amount, currency, usd_per_unit, rate_day, rate_source
    from account_spend
    where org_id = ${org_id} and account_id = ${id} and day = ${day}`.execute(db)
  return rows
}

/** The rows as a text to compare, regardless of their order. It leaves out the rate, because the two amounts determine it. */
const comparable = (rows: readonly AccountSpendRow[]): string =>
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
  { org_id, id }: ClaimedAccount,
  day: string,
  rows: readonly AccountSpendRow[],
): Promise<void> {
  await sql`delete from account_spend where org_id = ${org_id} and account_id = ${id} and day = ${day}`.execute(db)
  if (rows.length === 0) return
  const column = <K extends keyof AccountSpendRow>(name: K) => rows.map(row => row[name])
  await sql`
    insert into account_spend (org_id, account_id, day, external_id, name, amount, is_estimated, campaign_id, sub1,
      original_amount, currency, usd_per_unit, rate_day, rate_source)
    select ${org_id}::int, ${id}::uuid, ${day}::date, spent.*
    from unnest(${column('external_id')}::text[], ${column('name')}::text[], ${column('amount')}::numeric[],
      ${column('is_estimated')}::boolean[], ${column('campaign_id')}::uuid[], ${column('sub1')}::text[],
      ${column('original_amount')}::numeric[], ${column('currency')}::text[], ${column('usd_per_unit')}::numeric[],
      ${column('rate_day')}::date[], ${column('rate_source')}::text[]) as spent`.execute(db)
}

/** Deletes all spend an account has ever reported. */
export async function forgetSpend(db: Kysely<Tables>, org_id: number, id: string): Promise<void> {
  await sql`delete from account_spend where org_id = ${org_id} and account_id = ${id}`.execute(db)
}

/** One amount per campaign and sub1, without unmatched spend. */
function bookedCells(rows: readonly AccountSpendRow[], day: string): BookedCell[] {
  const known = rows.filter((row): row is AccountSpendRow & { campaign_id: string } => row.campaign_id !== null)
  const byCell = Map.groupBy(known, ({ campaign_id, sub1 }) => `${campaign_id} ${sub1}`)
  return [...byCell.values()].flatMap(list => {
    const [first] = list
    if (first === undefined) return []
    const amount = fromMillionths(list.reduce((sum, row) => sum + toMillionths(row.amount), 0n))
    return [{ day, campaign_id: first.campaign_id, sub1: first.sub1, amount }]
  })
}
