// Writes src/ground/db/tables.ts, the types of every table, from a freshly migrated database: `node scripts/tables.ts`.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freshDatabase } from '../tests/support/database.ts'

const run = promisify(execFile)
const program = (name: string): string => join(import.meta.dirname, '../node_modules/.bin', name)
const file = join(import.meta.dirname, '../src/ground/db/tables.ts')

/** The types that the driver's parsers return: see `types` in src/ground/db/connect.ts. */
const typeMapping = { timestamptz: 'string', timestamp: 'string', date: 'string', numeric: 'string', int8: 'string' }

/** The text of src/ground/db/tables.ts for the current migrations. */
export async function generateTables(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-tables-'))
  const fresh = await freshDatabase()
  try {
    const out = join(folder, 'tables.ts')
    const options = ['--dialect', 'postgres', '--type-mapping', JSON.stringify(typeMapping)]
    await run(program('kysely-codegen'), [...options, '--url', fresh.url, '--out-file', out])
    const generated = await readFile(out, 'utf8')
    await writeFile(out, generated.replace('export interface DB {', 'export interface Tables {'))
    const config = join(import.meta.dirname, '../biome.json')
    const formatted = run(program('biome'), ['format', '--stdin-file-path=tables.ts', `--config-path=${config}`])
    formatted.child.stdin?.end(await readFile(out))
    return (await formatted).stdout
  } finally {
    await fresh.drop()
    await rm(folder, { recursive: true })
  }
}

if (import.meta.main) await writeFile(file, await generateTables())
