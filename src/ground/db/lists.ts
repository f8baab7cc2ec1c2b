// Lists of the dashboard: newest first, page by page, with what people look for in names.
import { type SelectQueryBuilder, sql } from 'kysely'
import { pageOf } from '../../contract/paging.ts'

/** Which page: `cursor` is the id of the last row of the page before, `limit` the rows of this one. */
type Wanted = { readonly cursor?: string | undefined; readonly limit: number }

/**
 * The page of these rows, newest first: ids are made in order, so theirs is the order of time. And the cursor of the next page or null. `id` is
 * the column of their ids where several tables are read.
 */
export async function newestFirst<DB, Table extends keyof DB, Row extends { id: string }>(
  rows: SelectQueryBuilder<DB, Table, Row>,
  { cursor, limit }: Wanted,
  id = 'id',
): Promise<{ data: Row[]; next_cursor: string | null }> {
  const column = sql.ref<string>(id)
  const before = cursor === undefined ? rows : rows.where(sql<boolean>`${column} < ${cursor}`)
  const found = before.orderBy(column, 'desc').limit(limit + 1)
  return pageOf(await found.execute(), limit)
}

/** Whether the name holds the text, whatever the case of either. */
export const nameHolds = (text: string, name = 'name') =>
  sql<boolean>`strpos(lower(${sql.ref(name)}), lower(${text})) > 0`
