import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useDatabase } from '../../../tests/support/database.ts'
import { isSharded } from '../../../tests/support/sharded.ts'
import { distribute, FIRST_NODE_TABLES, REFERENCE_TABLES } from './distribute.ts'
import { listMigrations, statementsOf } from './migrate.ts'

const { database } = await useDatabase()
const named = [...REFERENCE_TABLES, ...FIRST_NODE_TABLES]

/** The tables, with the columns of their keys and of their foreign keys, each list in the order of the index. */
async function readTables() {
  const { rows } = await database.reads.query<{ name: string; primary_key: string[]; unique: string[][] }>(`
    select c.relname as name, k.columns as primary_key, coalesce(u.list, '[]'::json) as unique
    from pg_class c
    cross join lateral (
      select array_agg(a.attname::text order by place) as columns
      from pg_index i cross join unnest(i.indkey) with ordinality as one (number, place)
      join pg_attribute a on a.attrelid = c.oid and a.attnum = one.number
      where i.indrelid = c.oid and i.indisprimary
    ) k
    left join lateral (
      select json_agg(array(select attname from pg_attribute a where a.attrelid = c.oid and a.attnum = any(i.indkey))) as list
      from pg_index i where i.indrelid = c.oid and i.indisunique
    ) u on true
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.oid not in (select objid from pg_depend where classid = 'pg_class'::regclass and deptype = 'e')
      and c.relname !~ '_\\d{6}$'
    order by 1`)
  return rows
}

test('every table has a place on a cluster: its primary key begins with org_id, or distribute.ts lists it', async () => {
  const tables = await readTables()
  const [listed, others] = [
    tables.filter(({ name }) => named.includes(name)),
    tables.filter(({ name }) => !named.includes(name)),
  ]
  const placeless = others.filter(({ primary_key }) => primary_key?.[0] !== 'org_id').map(({ name }) => name)
  assert.deepEqual(
    placeless,
    [],
    'add them to REFERENCE_TABLES or FIRST_NODE_TABLES, or let org_id lead their primary key',
  )
  assert.deepEqual(
    listed.map(({ name }) => name),
    named.toSorted(),
    'a list names a table that is not there, or one twice',
  )
})

test('unique indexes of an organization’s tables include org_id, and foreign keys refer to no global table', async () => {
  const others = (await readTables()).filter(({ name }) => !named.includes(name))
  const loose = others.flatMap(({ name, unique }) =>
    unique.filter(columns => !columns.includes('org_id')).map(columns => `${name} (${columns.join(', ')})`),
  )
  assert.deepEqual(loose, [])
  const { rows } = await database.reads.query<{ name: string }>(
    `select conrelid::regclass::text as name from pg_constraint where contype = 'f' and conrelid::regclass::text <> all($1) and conparentid = 0`,
    [named],
  )
  assert.deepEqual(isSharded ? [] : rows, [], 'across nodes nothing can be held to it')
})

test('a file is split into statements, regardless of semicolons in quotes and comments', () => {
  const file = `-- One; two.
create table plums (name text default 'a;''b'); /* three; */ comment on table plums is '-- no comment; really';
do $body$ begin perform 1; end $body$;
select 4 - 1 / 2 as "a;b"; -- the end;`
  assert.deepEqual(statementsOf(file), [
    `create table plums (name text default 'a;''b')`,
    `comment on table plums is '-- no comment; really'`,
    'do $body$ begin perform 1; end $body$',
    'select 4 - 1 / 2 as "a;b"',
  ])
})

/** Statements that a cluster refuses for distributed tables, and the alternatives. */
const REFUSED: readonly [pattern: RegExp, instead: string][] = [
  [
    /\badd\s+(column\s+)?(?!constraint)\w+[^,;]*\bcheck\s*\(/is,
    'add the column first, then `add constraint <name> check`',
  ],
  [/\bset\s+statistics\b/i, 'leave statistics as they are'],
  [/\bcreate\s+(or\s+replace\s+)?(constraint\s+)?trigger\b/i, 'no triggers'],
  [/\w\s+(small|big)?serial\b|\bgenerated\s+\w+\s+(by\s+default\s+)?as\s+identity\b/i, 'ids come from the application'],
  [/\bon\s+(delete|update)\s+set\s+(null|default)\b/i, 'only cascade or nothing'],
  [/\bconcurrently\b/i, 'a migration is one transaction'],
]
const refusalsOf = (sql: string) =>
  statementsOf(sql).flatMap(one =>
    REFUSED.flatMap(([pattern, instead]) => (pattern.test(one) ? [`${one}: ${instead}`] : [])),
  )

test('each form that a cluster refuses in a migration is detected', () => {
  const bad = [
    'alter table balances add column low numeric default 1 check (low >= 0)',
    'alter table report_sheet alter column changes set statistics 0',
    'create trigger one before insert on clicks execute function f()',
    'create table x (org_id int, id bigserial)',
    'create table x (org_id int, id int references y on delete set null)',
    'create index concurrently x on clicks (id)',
  ]
  assert.deepEqual(
    bad.map(sql => refusalsOf(sql).length),
    [1, 1, 1, 1, 1, 1],
  )
  assert.deepEqual(refusalsOf('alter table a add column b int; alter table a add constraint b_is check (b > 0)'), [])
})

/** Published before tables were distributed. Where these are still to be applied, all tables are on one node. */
const BEFORE_CLUSTERS = new Set(['0010_worker.sql', '0015_low_balance.sql', '0020_small_sheets.sql'])

test('every migration can be applied to a running cluster', () => {
  const later = listMigrations().filter(({ name }) => !BEFORE_CLUSTERS.has(name))
  assert.deepEqual(
    later.flatMap(({ name, sql }) => refusalsOf(sql).map(refusal => `${name}: ${refusal}`)),
    [],
  )
})

test('on a cluster every table is in its place, and distributing again does nothing', {
  skip: !isSharded,
}, async () => {
  const { rows: placed } = await database.reads.query<{ name: string; kind: string }>(
    `select table_name::text as name, citus_table_type as kind
      from citus_tables join pg_class c on c.oid = table_name where not c.relispartition`,
  )
  const tables = await readTables()
  const kindOf = (name: string) =>
    REFERENCE_TABLES.includes(name) ? 'reference' : FIRST_NODE_TABLES.includes(name) ? 'local' : 'distributed'
  assert.deepEqual(
    Object.fromEntries(placed.map(({ name, kind }) => [name, kind])),
    Object.fromEntries(tables.map(({ name }) => [name, kindOf(name)])),
  )
  const own = database.dedicated()
  await own.connect()
  assert.deepEqual(await distribute(own), [])
  await own.end()
})
