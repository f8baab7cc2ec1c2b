// Lists as CSV files: read in portions, each when the one before it is sent, so that a million lines need no memory.
import { Readable } from 'node:stream'
import { type SelectQueryBuilder, sql } from 'kysely'
import { z } from 'zod'
import { textCell } from '../../contract/csv.ts'
import { MOST_FILE_LINES } from '../../contract/list-files.ts'
import { refuse } from '../../contract/refusals.ts'

/** Rows per statement. */
const PORTION = 1000

type Cell = string | number | boolean | null | undefined

/** A list that is read in portions. `Row` is a row as it is stored, in the order of the list. */
type PortionedList<Row> = {
  /** Whether the list has more rows than a file may have lines. */
  readonly isTooLong: () => Promise<boolean>
  /** At most `limit` rows after `last`, or the first ones. */
  readonly read: (last: Row | undefined, limit: number) => Promise<readonly Row[]>
}

/** How the rows become lines: the titles, and the wire format of each row. */
type Lines<Row> = {
  readonly titles: readonly string[]
  readonly encode: (rows: readonly Row[]) => Promise<readonly Readonly<Record<string, unknown>>[]>
}

/**
 * The list as a file. Refuses `too_many_lines`; the first portion is read before the answer begins, so that a fault in it is answered as one. A later
 * fault breaks the answer off.
 */
export async function fileOf<Row>(
  { isTooLong, read }: PortionedList<Row>,
  { titles, encode }: Lines<Row>,
): Promise<Readable> {
  if (await isTooLong()) refuse('too_many_lines')
  const first = await read(undefined, PORTION)
  async function* written(): AsyncGenerator<string> {
    yield lineOf(titles)
    for (let rows = first; rows.length > 0; ) {
      yield (await encode(rows)).map(row => lineOf(titles.map(title => cellOf(row[title] as Cell)))).join('')
      rows = rows.length < PORTION ? [] : await read(rows.at(-1), PORTION)
    }
  }
  return Readable.from(written())
}

/**
 * A list that `newestFirst` reads, as a file of the plain fields of `schema`. `shown` adds what the list shows beyond the stored columns; `id` names
 * the id column if several tables are read.
 */
export function newestFirstFile<
  DB,
  Table extends keyof DB,
  Row extends { id: string },
  Shape extends z.core.$ZodLooseShape,
>(
  schema: z.ZodObject<Shape>,
  rows: SelectQueryBuilder<DB, Table, Row>,
  shown: (rows: Row[]) => readonly object[] | Promise<readonly object[]> = stored => stored,
  id = 'id',
): Promise<Readable> {
  const column = sql.ref<string>(id)
  return fileOf<Row>(
    {
      isTooLong: async () => {
        const beyond = rows.clearSelect().select(column.as('id')).offset(MOST_FILE_LINES).limit(1)
        return (await beyond.execute()).length > 0
      },
      read: (last, limit) => {
        const rest = last === undefined ? rows : rows.where(sql<boolean>`${column} < ${last.id}`)
        return rest.orderBy(column, 'desc').limit(limit).execute()
      },
    },
    plainLines(schema, async stored => shown([...stored])),
  )
}

/** Lines of the plain fields of a row, in the order of its schema. */
export function plainLines<Row>(
  schema: z.ZodObject<z.core.$ZodLooseShape>,
  shown: (rows: readonly Row[]) => Promise<readonly object[]>,
): Lines<Row> {
  const plain = Object.entries(schema.shape).filter(([, field]) => isPlain(field))
  const row = z.object(Object.fromEntries(plain))
  return {
    titles: plain.map(([name]) => name),
    encode: async rows => (await shown(rows)).map(one => z.encode(row, one as never)),
  }
}

/** Whether a field is a text, a number, a truth value or null on the wire, and no object or list. */
function isPlain(field: z.core.$ZodType): boolean {
  const { def } = (field as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'enum':
    case 'literal':
    case 'null':
      return true
    case 'nullable':
    case 'optional':
    case 'default':
      return isPlain(def.innerType)
    case 'pipe':
      return isPlain(def.in)
    case 'union':
      return def.options.every(isPlain)
    default:
      return false
  }
}

/** Ids, times, amounts and names of enums, which no spreadsheet reads as a formula. */
const HARMLESS = /^[0-9A-Za-z][\w.:-]*$/

function cellOf(value: Cell): string {
  if (value === null || value === undefined) return ''
  const text = String(value)
  return typeof value !== 'string' || HARMLESS.test(text) ? text : textCell(text)
}

const lineOf = (cells: readonly string[]): string => `${cells.join(',')}\r\n`
