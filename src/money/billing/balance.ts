/**
 * Opens an organization's balance and ledger, and runs changes under the lock of the balance row. Owns the tables `balances` and `ledger`,
 * which intake also writes: a charge is in the transaction of the conversion that first reported the person.
 */
import { CompiledQuery, type Kysely, sql, type Transaction } from 'kysely'
import { newId } from '../../contract/ids.ts'
import type { Config } from '../../ground/config.ts'
import type { Tables } from '../../ground/db/tables.ts'

/**
 * Inserts the balance row of a new organization with PRICE_PER_PERSON, and WELCOME_CREDIT as the first ledger entry. Runs in the transaction
 * that creates the organization, which cannot record anything without this row.
 */
export async function openBalance(
  trx: Transaction<Tables>,
  org_id: number,
  { pricePerPerson, welcomeCredit }: Pick<Config, 'pricePerPerson' | 'welcomeCredit'>,
): Promise<void> {
  await sql`
    insert into balances (org_id, balance, price_per_person, hold_when_empty)
    values (${org_id}, ${welcomeCredit}, ${pricePerPerson}, false)`.execute(trx)
  if (Number(welcomeCredit) === 0) return
  await sql`
    insert into ledger (org_id, id, kind, amount, note, created_at)
    values (${org_id}, ${newId()}, 'adjustment', ${welcomeCredit}, 'Welcome credit', ${new Date().toISOString()})`.execute(
    trx,
  )
}

/**
 * Runs a change that decides which deliveries conversions get, such as of a rule. It runs under the lock that conversions are recorded under,
 * and gets the current moment by the database's clock (its text). So the times of conversions and changes say which came first: the audit can
 * tell which deliveries are due, and a run over past conversions knows where the past ends. `change` must use only its transaction; if it
 * throws, everything is rolled back.
 */
export function betweenConversions<T>(
  db: Kysely<Tables>,
  org_id: number,
  change: (trx: Transaction<Tables>, now: string) => Promise<T>,
): Promise<T> {
  return db.transaction().execute(async trx => {
    // The lock is in a subquery: read beside it, the clock would be read before the wait for the lock.
    const { rows } = await sql<Moment>`
      select clock_timestamp() as at
      from (select org_id from balances where org_id = ${org_id} for update) locked`.execute(trx)
    return await change(trx, momentOf(rows))
  })
}

/**
 * The current moment (the database's text) by the clock that stamps the organization's conversions: that of its database node, because the
 * clocks of processes and nodes differ. For times that are compared with conversions' times, or by which other processes find changes. Takes no
 * lock.
 */
export async function readMoment(db: Kysely<Tables>, org_id: number): Promise<string> {
  return momentOf((await db.executeQuery<Moment>(CompiledQuery.raw(READ_MOMENT, [org_id]))).rows)
}

/** The same as a statement, for callers without the query builder. Every organization has a balance row. */
export const READ_MOMENT = 'select clock_timestamp() as at from balances where org_id = $1'

type Moment = { at: string }

function momentOf([row]: readonly Moment[]): string {
  if (row === undefined) throw new Error('the organization has no balance')
  return row.at
}
