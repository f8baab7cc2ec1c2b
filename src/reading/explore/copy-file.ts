/**
 * The file of a local copy: its tables, its name, and how a process opens one. The name holds the layout, a hash of what its tables are made from, so that
 * no process reads tables of other columns. A process has each file to itself.
 */
import { createHash } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { newId, timeOfId } from '../../contract/ids.ts'
import { quoted } from './columns.ts'
import { type Ask, FilesGone } from './engine.ts'
import { unsealedTable } from './kept-sheets.ts'
import { spendTables } from './pricing.ts'
import { FACT_COLUMNS, NO_FACTS } from './table.ts'
import { NUMBER_COLUMNS, wordTables } from './words.ts'

/** The storage version of DuckDB that keeps words as a dictionary, which is read and searched twice as fast. */
const STORED_AS = 'v1.4.0'
/**
 * Rows that are compressed together. A portion to copy has more, so DuckDB compresses its rows once, while they are inserted. With DuckDB's usual
 * 122,880 it wrote each portion to its log, then compressed the unfinished group anew, which took twice the processor time.
 */
const ROW_GROUP = 30_720
const STORAGE = `storage_version '${STORED_AS}', row_group_size ${ROW_GROUP}`

/** The statements that create the tables of a copy. */
const tablesOf = (copy: string): string => `
  create table ${copy}.segments (number integer, id varchar, day varchar);
  create table ${copy}.facts as select s::integer as s, ${FACT_COLUMNS}, ${NUMBER_COLUMNS} from ${NO_FACTS};
  ${unsealedTable(copy)};
  ${wordTables(copy)};
  ${spendTables(copy)}`

/** How it is stored, every column, its type and how it is read from segments. */
export const DEFINITION = `${STORAGE} ${tablesOf('copy')}`
/** The name of a layout: a changed definition is another layout. */
export const layoutOf = (definition: string): string =>
  createHash('sha256').update(definition).digest('hex').slice(0, 12)
const LAYOUT = layoutOf(DEFINITION)

/** Earlier versions numbered their layouts 1, 2, 3 … */
const COPY = /^facts\.([0-9a-f]+)\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.duckdb(\.wal)?$/

/** The layout and the start time of a copy, read from the name of its file or its write-ahead log; undefined for other files. */
export function copyNamed(file: string): { layout: string; begun_ms: number; isLog: boolean } | undefined {
  const [, layout, id, log] = COPY.exec(file) ?? []
  if (layout === undefined || id === undefined) return undefined
  return { layout, begun_ms: timeOfId(id), isLog: log !== undefined }
}

/** Attaches a copy of the organization as `name`, with empty tables where it is new. Returns its path. */
export async function openCopyFile(ask: Ask, name: string, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = await attach(ask, name, folder)
  const [{ tables } = { tables: 0 }] = await ask(
    `select count(*) as tables from duckdb_tables() where database_name = '${name}'`,
  )
  if (Number(tables) > 0) return path
  // All tables or none.
  await ask('begin')
  await ask(tablesOf(name))
  await ask('commit')
  return path
}

/**
 * Attaches a file that no other process has open, and removes those that cannot be read. A new file gets a new name, because another process may
 * still write to a file that was removed while it was open.
 */
async function attach(ask: Ask, name: string, folder: string): Promise<string> {
  for (const file of await readdir(folder)) {
    const copy = copyNamed(file)
    if (copy === undefined || copy.isLog) continue
    const path = join(folder, file)
    if (copy.layout !== LAYOUT) {
      // Of an earlier version. A later version can only have begun its copies after this process started.
      if (copy.begun_ms < performance.timeOrigin) await removeCopyFile(path)
      continue
    }
    try {
      await ask(attachment(path, name))
      return path
    } catch (error) {
      if (/could not set lock|conflicting lock/i.test((error as Error).message)) continue
      if (!(error instanceof FilesGone)) throw error
      await removeCopyFile(path)
    }
  }
  const path = join(folder, `facts.${LAYOUT}.${newId()}.duckdb`)
  await ask(attachment(path, name))
  return path
}

const attachment = (path: string, name: string) => `attach ${quoted(path)} as ${name} (${STORAGE})`

/** Removes a copy's file and its write-ahead log. A process that has it open keeps what it has. */
export async function removeCopyFile(path: string): Promise<void> {
  await rm(path, { force: true })
  await rm(`${path}.wal`, { force: true })
}
