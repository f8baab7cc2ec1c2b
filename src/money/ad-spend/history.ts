/** Amounts of spend as the history has them: the object is the campaign, and the name tells its days and values of sub1 apart. Owns no table. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import { type HistoryObject, type ObjectChange, objectKey, type ObjectSnapshot } from '../../ground/history/record.ts'

type Cell = { readonly campaign_id: string; readonly day: string; readonly sub1: string }
type Original = { readonly original_amount: string; readonly currency: string } | null

/** The name of an amount: its UTC day and, if it has one, its sub1. */
const spendName = ({ day, sub1 }: Omit<Cell, 'campaign_id'>): string => (sub1 === '' ? day : `${day} / ${sub1}`)

/** The day and the sub1 in the name of an amount. */
export const cellOfName = (name: string): Omit<Cell, 'campaign_id'> => ({
  day: name.slice(0, 10),
  sub1: name.slice(13),
})

/** An amount in dollars, and as it was sent if that was in another currency; undefined for none. */
function spendSnapshot(name: string, amount: string | null, original: Original): ObjectSnapshot | undefined {
  if (amount === null) return undefined
  const { original_amount, currency } = original ?? {}
  const fields = { amount, ...(original === null ? {} : { original: { original_amount, currency } }) }
  return { name, fields, secrets: {}, only_for: null }
}

/** The amounts of these objects, as they are in the transaction, by campaign and name. */
export async function readSpendSnapshots(
  db: Kysely<Tables>,
  org_id: number,
  objects: readonly HistoryObject[],
): Promise<(object: HistoryObject) => ObjectSnapshot | undefined> {
  const cells = objects.map(({ name = '' }) => cellOfName(name))
  const { rows } = await sql<Cell & { amount: string; original: Original }>`
    select campaign_id, day, sub1, amount, case when currency is not null then
      json_build_object('original_amount', original_amount::text, 'currency', currency) end as original
    from ad_spend
    where org_id = ${org_id} and (day, campaign_id, sub1) in (
      select * from unnest(${cells.map(({ day }) => day)}::date[], ${objects.map(({ id }) => id)}::uuid[],
        ${cells.map(({ sub1 }) => sub1)}::text[]))`.execute(db)
  const found = new Map(rows.map(row => [objectKey(spendObject(row)), row]))
  return object => {
    const row = found.get(objectKey(object))
    return row === undefined ? undefined : spendSnapshot(spendName(row), row.amount, row.original)
  }
}

/** The amount of a cell as an object of the history. */
export const spendObject = (cell: Cell): HistoryObject => ({
  kind: 'ad_spend',
  id: cell.campaign_id,
  name: spendName(cell),
})

/** A change of an amount, without its original currency before. */
export function spendChange(cell: Cell, before: string | null, after: string | null, original: Original): ObjectChange {
  const name = spendName(cell)
  return {
    ...spendObject(cell),
    before: spendSnapshot(name, before, null),
    after: spendSnapshot(name, after, original),
  }
}
