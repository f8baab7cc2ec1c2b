/** Lists as CSV files: what their endpoints declare, and the rows that somebody has picked in a list. */
import { z } from 'zod'
import { Id } from './fields.ts'

/** The most lines of a list's file. */
export const MOST_FILE_LINES = 1_000_000

/** The most rows that are picked by their ids. */
const MOST_PICKED = 10_000

/** The fields of an endpoint that saves a list as a file. */
export const listFile = {
  access: { session: 'member' },
  description: `The plain fields of the rows, in the order of the list, at most ${MOST_FILE_LINES.toLocaleString('en-US')} lines. An answer that breaks off is not ended properly.`,
  file: 'text/csv',
  status: 200,
  refuses: ['too_many_lines'],
} as const

/** Rows of a list, picked by their ids or by the filters of the list. */
const Picked = <Filter extends z.core.$ZodLooseShape>(filter: Filter) =>
  z
    .object({
      ids: z
        .array(Id)
        .min(1)
        .max(MOST_PICKED)
        .optional()
        .meta({ description: 'Ids of rows; unknown ones are left out' }),
      filter: z.strictObject(filter).optional().meta({ description: 'The query of the list, without paging' }),
    })
    .refine(({ ids, filter: sent }) => (ids === undefined) !== (sent === undefined), {
      message: 'must have either ids or filter',
    })

/** The same for a list whose rows can be picked. */
export const pickedFile = <Filter extends z.core.$ZodLooseShape>(filter: Filter) =>
  ({ ...listFile, reads: true, body: Picked(filter) }) as const
