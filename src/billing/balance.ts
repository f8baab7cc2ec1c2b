/**
 * Opens an organization's books. Owns the tables `balances` and `ledger`, which the intake queue writes as well: a charge is part of
 * the transaction of the conversion that met the person first.
 */
import { sql, type Transaction } from 'kysely'
import type { Config } from '../config.ts'
import { newId } from '../contract/ids.ts'
import type { Tables } from '../db/tables.ts'

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
