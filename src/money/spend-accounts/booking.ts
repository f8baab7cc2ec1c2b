/**
 * Books a UTC day of an account. Owns `account_spend`: what the platform says, by its ids. What of it is a campaign's is written to `booked_spend` in the
 * same transaction, and takes the place of all that the account has booked on that day: booked twice, nothing changes.
 */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import { type BookedCell, rebookDay } from '../ad-spend/rebook.ts'
import { fromMillionths, toMillionths } from '../billing/money.ts'
import { type Claimed, holdClaim } from './claims.ts'
import { recall, seeDay } from './matching.ts'

/** What an id has cost on a UTC day; `amount` in US dollars. */
export type Spent = {
  readonly external_id: string
  readonly name: string
  readonly amount: string
  readonly is_estimated: boolean
}

type Row = Spent & { readonly campaign_id: string | null; readonly sub1: string }

export const originOf = (account_id: string) => `account:${account_id}` as const

/** Finds the campaigns of a day's spend and books it. What is booked so already is not written again. @throws LostClaim */
export async function bookDay(
  ground: Pick<Ground, 'db' | 'database'>,
  account: Claimed,
  day: string,
  spent: readonly Spent[],
): Promise<void> {
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
    await rebookDay(trx, { org_id: account.org_id, origin: originOf(account.id), day }, cellsOf(rows))
  })
}

/** Books a day again with what the platform said then, once more of its campaigns are known. @throws LostClaim */
export async function bookDayAgain(ground: Pick<Ground, 'db' | 'database'>, account: Claimed, day: string) {
  await bookDay(ground, account, day, await readDay(ground.db, account, day))
}

async function readDay(db: Kysely<Tables>, { org_id, id }: Claimed, day: string): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select external_id, name, amount, is_estimated, campaign_id, sub1 from account_spend
    where org_id = ${org_id} and account_id = ${id} and day = ${day}`.execute(db)
  return rows
}

const textOf = (rows: readonly Row[]): string =>
  JSON.stringify(
    rows
      .map(row => [
        row.external_id,
        row.name,
        toMillionths(row.amount).toString(),
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
    insert into account_spend (org_id, account_id, day, external_id, name, amount, is_estimated, campaign_id, sub1)
    select ${org_id}::int, ${id}::uuid, ${day}::date, external_id, name, amount, is_estimated, campaign_id, sub1
    from unnest(${column('external_id')}::text[], ${column('name')}::text[], ${column('amount')}::numeric[],
      ${column('is_estimated')}::boolean[], ${column('campaign_id')}::uuid[], ${column('sub1')}::text[])
      as spent (external_id, name, amount, is_estimated, campaign_id, sub1)`.execute(db)
}

/** Forgets all that an account has ever told. */
export async function forgetSpend(db: Kysely<Tables>, org_id: number, id: string): Promise<void> {
  await sql`delete from account_spend where org_id = ${org_id} and account_id = ${id}`.execute(db)
}

/** One amount per campaign and sub1. Spend without a campaign is in none. */
function cellsOf(rows: readonly Row[]): BookedCell[] {
  const known = rows.filter((row): row is Row & { campaign_id: string } => row.campaign_id !== null)
  const placed = Map.groupBy(known, ({ campaign_id, sub1 }) => `${campaign_id} ${sub1}`)
  return [...placed.values()].flatMap(list => {
    const [first] = list
    if (first === undefined) return []
    const amount = fromMillionths(list.reduce((sum, row) => sum + toMillionths(row.amount), 0n))
    return [{ campaign_id: first.campaign_id, sub1: first.sub1, amount }]
  })
}
