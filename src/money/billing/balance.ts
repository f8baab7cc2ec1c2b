/**
 * Opens an organization's books, and lends the lock on them. Owns the tables `balances` and `ledger`, which the intake queue writes as
 * well: a charge is part of the transaction of the conversion that met the person first.
 */
import { CompiledQuery, type Kysely, sql, type Transaction } from 'kysely'
import { newId } from '../../contract/ids.ts'
import type { Config } from '../../ground/config.ts'
import type { Tables } from '../../ground/db/tables.ts'

/**
 * The balance row of a new organization with PRICE_PER_PERSON, and WELCOME_CREDIT as the first entry of its ledger. Runs in the
 * transaction that makes the organization: without this row nothing of it can be recorded.
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
 * Does a change that decides what conversions put out, at the moment it is given (the database's text). Behind the lock they are decided
 * under, so that each is decided before it or after it, as their times say: the audit can ask which deliveries are due, and a run over
 * the past knows what the past is. Everything in `change` goes through its transaction; what it throws is rolled back.
 */
export function betweenConversions<T>(
  db: Kysely<Tables>,
  org_id: number,
  change: (trx: Transaction<Tables>, now: string) => Promise<T>,
): Promise<T> {
  return db.transaction().execute(async trx => {
    // Outside of what takes the lock: beside the lock itself the clock would be read before the wait for it.
    const { rows } = await sql<Moment>`
      select clock_timestamp() as at
      from (select org_id from balances where org_id = ${org_id} for update) locked`.execute(trx)
    return await change(trx, momentOf(rows))
  })
}

/**
 * The moment by the clock that an organization's conversions go by (the database's text): its node's, because those of several processes,
 * or of the nodes of a sharded database, need not agree. For times that are held against a conversion's, or by which other processes look
 * for what has changed; takes no lock.
 */
export async function readMoment(db: Kysely<Tables>, org_id: number): Promise<string> {
  return momentOf((await db.executeQuery<Moment>(CompiledQuery.raw(READ_MOMENT, [org_id]))).rows)
}

/** The same for who is not on the builder; of an organization there always is one. */
export const READ_MOMENT = 'select clock_timestamp() as at from balances where org_id = $1'

type Moment = { at: string }

function momentOf([row]: readonly Moment[]): string {
  if (row === undefined) throw new Error('the organization has no balance')
  return row.at
}
