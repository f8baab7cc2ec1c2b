// Lists of the dashboard: newest first, page by page, filtered by name.
import { type SelectQueryBuilder, sql } from 'kysely'
import { pageOf } from '../../contract/paging.ts'

/** `cursor` is the id of the last row of the page before, `limit` the most rows of this page. */
type WantedPage = { readonly cursor?: string | undefined; readonly limit: number }

/** The filters of a list without paging, or the ids of the rows that were picked in it. */
export type Wanted<Query> = Omit<Query, 'limit' | 'cursor'> & { readonly ids?: readonly string[] | undefined }

/** What was picked in a list, as its filters. */
export const picked = <Filter extends object>({
  ids,
  filter,
}: {
  readonly ids?: readonly string[] | undefined
  readonly filter?: Filter | undefined
}): Wanted<Filter> => ({ ...(filter as Filter), ids })

/**
 * A page of rows, newest first, with the cursor of the next page or null. Ids ascend with time, so they give the order. `id` names the id column if
 * several tables are read.
 */
export async function newestFirst<DB, Table extends keyof DB, Row extends { id: string }>(
  rows: SelectQueryBuilder<DB, Table, Row>,
  { cursor, limit }: WantedPage,
  id = 'id',
): Promise<{ data: Row[]; next_cursor: string | null }> {
  const column = sql.ref<string>(id)
  const before = cursor === undefined ? rows : rows.where(sql<boolean>`${column} < ${cursor}`)
  const found = before.orderBy(column, 'desc').limit(limit + 1)
  return pageOf(await found.execute(), limit)
}

/** Whether the name contains the text, ignoring case. */
export const nameHolds = (text: string, name = 'name') =>
  sql<boolean>`strpos(lower(${sql.ref(name)}), lower(${text})) > 0`
