// The room that clicks take on the disk, by table.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'

const MOST_TABLES = 6
const MB = 1_000_000

// Partitions count with their table, indexes and long values too. The bench's own table for its yardstick is left out.
const SIZES = `
  select coalesce(pg_partition_root(c.oid), c.oid)::regclass::text as table_name, sum(pg_total_relation_size(c.oid))::float8 as bytes
  from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and c.relname <> 'bench_scan'
  group by 1 order by 2 desc limit ${MOST_TABLES}`

/** The largest tables, and the copy for the Report page in `dataDir`, as a line for the bench. */
export async function diskText(pool: pg.Pool, dataDir: string): Promise<string> {
  const { rows: tables } = await pool.query<{ table_name: string; bytes: number }>(SIZES)
  const { rows } = await pool.query<{ count: number }>('select count(*)::float8 as count from clicks')
  const sizes = [...tables.map(({ table_name, bytes }) => [table_name, bytes] as const), copyIn(dataDir)]
  const told = sizes.map(([name, bytes]) => `${name} ${(bytes / MB).toFixed(0)}`).join(', ')
  return `MB on the disk with ${((rows[0]?.count ?? 0) / MB).toFixed(1)} million clicks in all: ${told}`
}

function copyIn(dataDir: string): readonly [string, number] {
  const folder = join(dataDir, 'explore')
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
  return ['DATA_DIR/explore', bytes]
}
