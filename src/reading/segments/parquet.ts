/** A segment's body: a Parquet file of rows, compressed by Zstandard, which Node, DuckDB and most other readers know. */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { parquetReadObjects } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { type FactRow, TEXTS } from './facts.ts'

type Type = 'INT32' | 'INT64' | 'BOOLEAN' | 'STRING'
type Column = { readonly name: keyof FactRow; readonly type: Type; readonly nullable: boolean }

const column = (name: keyof FactRow, type: Type, nullable = false): Column => ({ name, type, nullable })

const COLUMNS: readonly Column[] = [
  column('sign', 'INT32'),
  column('ms', 'INT32'),
  ...TEXTS.map(name => column(name, 'STRING', true)),
  column('visitor', 'INT64', true),
  column('is_new', 'BOOLEAN'),
  column('tracked', 'BOOLEAN'),
  column('stages', 'INT32'),
  column('revenue', 'INT64', true),
  column('cost', 'INT64', true),
  column('unread_cost', 'BOOLEAN'),
  column('approved', 'INT32'),
  column('pending', 'INT32'),
  column('rejected', 'INT32'),
  column('revenue_pending', 'INT64'),
  column('conversions', 'STRING', true),
]

/** The text columns. Segments of earlier versions lack the newer ones, which are then null. */
export const TEXT_COLUMNS: readonly (keyof FactRow)[] = COLUMNS.filter(({ type }) => type === 'STRING').map(
  ({ name }) => name,
)

/** The most rows of a body, which is one row group: merging holds them all as objects. */
export const MOST_ROWS = 32_768

/**
 * The file of at least one row. With `sheets`, the numbers of the rows' sheets, it has a column `s` more and is not compressed, because it is read
 * once and removed.
 */
export function encode(rows: readonly FactRow[], sheets?: readonly number[]): Buffer {
  const numbers = sheets && [{ name: 's', type: 'INT32' as const, nullable: false, data: [...sheets] }]
  const columnData = COLUMNS.map(({ name, type, nullable }) => ({
    name,
    type,
    nullable,
    data: rows.map(row => row[name]),
    // Most segments are small, and full statistics would outweigh their rows. Readers skip rows only by time.
    statistics: name === 'ms',
    offsetIndex: false,
  }))
  const body = parquetWriteBuffer({
    columnData: [...columnData, ...(numbers ?? [])],
    codec: sheets === undefined ? 'ZSTD' : 'UNCOMPRESSED',
    compressors: { ZSTD: bytes => zstdCompressSync(bytes) },
    rowGroupSize: MOST_ROWS,
    createdBy: 'sluice',
  })
  return Buffer.from(body)
}

/** The rows of a file that `encode` of this version or an earlier one has made, with these columns alone if given. */
export async function decode(body: Uint8Array): Promise<FactRow[]>
export async function decode<Name extends keyof FactRow>(
  body: Uint8Array,
  columns: readonly Name[],
): Promise<Pick<FactRow, Name>[]>
export async function decode(body: Uint8Array, columns?: readonly string[]): Promise<object[]> {
  const file = {
    byteLength: body.byteLength,
    slice: (start: number, end?: number) => new Uint8Array(body.subarray(start, end)).buffer,
  }
  const rows: object[] = await parquetReadObjects({
    file,
    ...(columns && { columns: [...columns] }),
    compressors: { ZSTD: bytes => new Uint8Array(zstdDecompressSync(bytes)) },
  })
  const wanted = columns === undefined ? TEXT_COLUMNS : TEXT_COLUMNS.filter(name => columns.includes(name))
  const missing = wanted.filter(name => !(name in (rows[0] ?? {})))
  if (missing.length === 0) return rows
  const nothing = Object.fromEntries(missing.map(name => [name, null]))
  return rows.map(row => ({ ...nothing, ...row }))
}
