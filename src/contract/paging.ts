/**
 * Pages of the dashboard's lists: newest first, `limit` rows each. Ids are UUIDv7, so they sort by creation, and a cursor is the id of the last row
 * shown.
 */
import { z } from 'zod'
import { FAITHFUL, Id } from './fields.ts'
import { toWireId } from './ids.ts'

const MOST = 200
const USUAL = 50

/** `limit` and `cursor` of a list, to spread into its query schema. A limit that is no whole number becomes the default. */
export const paging = {
  limit: z
    .union([z.string(), z.number()])
    .optional()
    .transform(sent => {
      const wanted = sent === undefined || sent === '' ? USUAL : Number(sent)
      return Number.isInteger(wanted) ? Math.min(Math.max(wanted, 1), MOST) : USUAL
    })
    .meta({ description: `Rows of a page, 1 to ${MOST}, by default ${USUAL}` }),
  cursor: Id.optional().meta({ description: 'next_cursor of the page before' }),
}

/** Text to look for in names. */
export const Search = z
  .string()
  .max(200)
  .refine(...FAITHFUL)
  .optional()

/** A page from up to `limit + 1` rows, with the cursor of the next page or null. */
export function pageOf<Row extends { id: string }>(
  rows: readonly Row[],
  limit: number,
): { data: Row[]; next_cursor: string | null } {
  const data = rows.slice(0, limit)
  const last = data.at(-1)
  return { data, next_cursor: rows.length > limit && last !== undefined ? toWireId(last.id) : null }
}
