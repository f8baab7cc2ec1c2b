/**
 * The scanning process: runs the statements of its parent in DuckDB over local files. It has none of the parent's settings, reads nothing outside its
 * folder, and ends with the parent.
 */
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { ScanAnswer, ScanStatement } from './engine.ts'

const [folder = '.', memory = '512MB', threads = '2'] = process.argv.slice(2)

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

const instance = DuckDBInstance.create(':memory:', {
  memory_limit: memory,
  threads,
  temp_directory: `${folder}/spilled-${process.pid}`,
  max_temp_directory_size: '4GB',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  // Every statement states its order; not keeping the insertion order halves the time to store rows.
  preserve_insertion_order: 'false',
  // Word numbers up to this many bits are grouped by position instead of by hash.
  perfect_ht_threshold: '18',
})
const isReady = instance.then(async opened => {
  const connection = await opened.connect()
  await connection.run('set global parquet_metadata_cache = true')
  await connection.run(`set allowed_directories = [${quoted(folder)}]`)
  await connection.run('set enable_external_access = false')
  await connection.run('set lock_configuration = true')
  connection.closeSync()
  return opened
})

/** One for each question, so that its temporary tables end with it. */
let current: DuckDBConnection | undefined

async function answer({ id, sql, is_first }: ScanStatement): Promise<ScanAnswer> {
  try {
    if (is_first || current === undefined) {
      current?.closeSync()
      current = await (await isReady).connect()
    }
    const reader = await current.runAndReadAll(sql)
    return { id, rows: reader.getRowObjectsJS() as ScanAnswer['rows'] }
  } catch (error) {
    return { id, rows: [], failed: (error as Error).message }
  }
}

process.on('message', (statement: ScanStatement) => {
  void answer(statement).then(answered => process.send?.(answered))
})
process.on('disconnect', () => process.exit(0))
