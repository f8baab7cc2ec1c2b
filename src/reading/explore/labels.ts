/** The labels of keys. Reads the names of the organization's own objects alone, so another organization's id has no name. */
import type pg from 'pg'
import { COUNTRIES } from '../../contract/countries.ts'
import { type ExploreDimension, isObjectDimension, type ObjectDimension } from '../../contract/explore-dimensions.ts'
import { type ScanValue, wireKeyOf } from './columns.ts'

const NO_VALUE = '(none)'
export const OTHER = '(other)'
export const WITHOUT_CLICKS = 'Spend without clicks'
/** The row of spend that was booked without a sub1, with `"unassigned": "apart"`. */
export const UNASSIGNED = 'Unassigned spend'

/** The tables and columns of names. Deleted objects are included, because their clicks are still there. */
const NAMES: Record<ObjectDimension, { readonly table: string; readonly name: string }> = {
  campaign: { table: 'campaigns', name: 'name' },
  offer: { table: 'offers', name: 'name' },
  landing: { table: 'landings', name: 'name' },
  source: { table: 'traffic_sources', name: 'name' },
  funnel: { table: 'funnels', name: 'name' },
  tag: { table: 'tags', name: 'name' },
  ad_account: { table: 'ad_accounts', name: 'name' },
  bot: { table: 'bots', name: "'@' || username" },
}

export type ObjectNames = ReadonlyMap<string, string>

/** The names of these objects, by id (uuid). */
export async function objectNames(
  reads: Pick<pg.Pool, 'query'>,
  org_id: number,
  dimension: ObjectDimension,
  ids: readonly string[],
): Promise<ObjectNames> {
  const { table, name } = NAMES[dimension]
  const { rows } = await reads.query<{ id: string; name: string }>(
    `select id, ${name} as name from ${table} where org_id = $1 and id = any($2::uuid[])`,
    [org_id, ids],
  )
  return new Map(rows.map(row => [row.id, row.name]))
}

/** Ids and names of the objects whose name has `search` in it, by name. */
export async function objectsNamed(
  reads: Pick<pg.Pool, 'query'>,
  org_id: number,
  dimension: ObjectDimension,
  search: string,
  most: number,
): Promise<{ id: string; name: string }[]> {
  const { table, name } = NAMES[dimension]
  // A deleted tag is gone.
  const order = `${dimension === 'tag' ? '' : 'deleted_at is not null, '}lower(${name}), id`
  const { rows } = await reads.query<{ id: string; name: string }>(
    `select id, ${name} as name from ${table}
    where org_id = $1 and strpos(lower(${name}), lower($2)) > 0 order by ${order} limit $3`,
    [org_id, search, most],
  )
  return rows
}

/** The label of a value. */
export function labelOf(
  dimension: ExploreDimension,
  value: ScanValue | undefined,
  names: ObjectNames | undefined,
): string {
  const key = wireKeyOf(dimension, value)
  if (key === null) return NO_VALUE
  if (isObjectDimension(dimension)) return names?.get(String(value)) ?? key
  return wordsOfKey(dimension, key)
}

/** The label of a key that is not an object's. */
export function wordsOfKey(dimension: ExploreDimension, key: string): string {
  if (dimension === 'geo') return COUNTRIES.get(key) ?? key
  if (dimension === 'is_new') return key === 'true' ? 'New' : 'Returning'
  if (dimension === 'is_left_out') return key === 'true' ? 'Left out' : 'Let in'
  if (dimension === 'way') return key === 'page' ? 'Page' : 'Redirect'
  return key
}
