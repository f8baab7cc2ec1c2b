// The tables of a Sluice database, read from the database itself, so that a new table is in the next backup.
import type pg from 'pg'
import type { AppliedMigration } from '../ground/db/migrate.ts'

export type BackupTable = { readonly name: string; readonly columns: readonly string[] }
type Partition = { readonly name: string; readonly parent: string; readonly bound: string }

/** The description of a database in a backup, before its rows. */
export type DatabaseShape = {
  readonly migrations: readonly AppliedMigration[]
  readonly partitions: readonly Partition[]
  /** SECRET's fingerprint; null if Sluice was never started on the database. */
  readonly fingerprint: string | null
}

/** Excludes relations of extensions. */
const OWN = `relnamespace = 'public'::regnamespace and not exists (
  select from pg_depend e where e.classid = 'pg_class'::regclass and e.objid = c.oid and e.deptype = 'e')`

/** All tables, referenced ones first, so that they can be restored in this order. Partitions follow their table. */
export async function listTables(client: pg.ClientBase): Promise<BackupTable[]> {
  const { rows } = await client.query<BackupTable>(`
    with recursive referred as (
      select conrelid as own, confrelid as other from pg_constraint where contype = 'f' and conrelid <> confrelid
    ), depth as (
      select c.oid, 0 as steps from pg_class c where c.relkind in ('r', 'p') and not c.relispartition and ${OWN}
      union all
      select r.own, d.steps + 1 from depth d join referred r on r.other = d.oid where d.steps < 20
    )
    select c.relname as name, (
      select json_agg(a.attname order by a.attnum) from pg_attribute a
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns
    from pg_class c join (select oid, max(steps) as steps from depth group by oid) d on d.oid = c.oid
    where not c.relispartition
    order by d.steps, c.relname`)
  return rows
}

export async function readShape(client: pg.ClientBase): Promise<DatabaseShape> {
  const { rows: migrations } = await client.query<AppliedMigration>(
    'select number, name, checksum from migrations order by number',
  )
  const { rows: partitions } = await client.query<Partition>(`
    select c.relname as name, p.relname as parent, pg_get_expr(c.relpartbound, c.oid) as bound
    from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
    where c.relispartition and c.relkind in ('r', 'p') and c.${OWN}
    order by 1`)
  const { rows } = await client.query<{ value: string }>(
    `select value from installation where name = 'secret_fingerprint'`,
  )
  return { migrations, partitions, fingerprint: rows[0]?.value ?? null }
}

/** The names of all tables, views and sequences. */
export async function listRelations(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S') and ${OWN} order by 1`,
  )
  return rows.map(({ name }) => name)
}
