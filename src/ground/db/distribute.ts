/**
 * The placement of tables on a Citus cluster. Tables of an organization are distributed by `org_id`, so that all its rows are on one node. Small
 * global tables are on every node, so that a read needs no other node. A few global tables that are written often are on the first node alone, so
 * that a write needs no other node. A table in neither list belongs to organizations.
 */
import type pg from 'pg'
import { StartError } from '../start-error.ts'

/** On every node: mostly read, often before the organization is known. A write needs all nodes. */
export const REFERENCE_TABLES: readonly string[] = [
  'migrations',
  'installation',
  'daily_secrets',
  'users',
  'accounts',
  'organizations',
  'members',
  'invitations',
  'api_keys',
  'api_key_grants',
  'campaign_keys',
  'bot_hooks',
  'bot_numbers',
  'network_tokens',
  'domain_names',
  'domain_holders',
  'domain_zones',
  'dropped_clicks',
  'fx_rates',
]

/** On the first node, reachable through any: written by every sign-in, every use of a key, or every failure. */
export const FIRST_NODE_TABLES: readonly string[] = [
  'verifications',
  'sessions',
  'active_organizations',
  'avatars',
  'two_factors',
  'passkeys',
  'spent_codes',
  'api_key_uses',
  'fx_sources',
  'certificates',
  'acme_challenges',
  'acme_accounts',
  'acme_orders',
  'tls_ticket_keys',
  'failing_rounds',
  'connection_clients',
  'connections',
  'connection_codes',
  'connection_tokens',
  'backups',
]

/** The table that the others of an organization are colocated with, because every transaction locks the balance first. */
const BESIDE = 'balances'

const ON_CITUS = `select to_regproc('create_distributed_table') is not null as is_so`
/** Any number that nothing else locks in this database. */
const LOCK = 7_583_003

/** Whether this database is the first node of a cluster, or one node that could become one. */
export async function isOnCitus(client: Pick<pg.ClientBase, 'query'>): Promise<boolean> {
  const { rows } = await client.query<{ is_so: boolean }>(ON_CITUS)
  return rows[0]?.is_so === true
}

/**
 * Runs `work` in one process at a time, while the others wait. Schema changes reach the nodes one after another, as a transaction needs that has
 * written a row on all nodes.
 */
export async function aloneOnCitus<T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query(`set citus.multi_shard_modify_mode = 'sequential'`)
  await client.query('select pg_advisory_lock($1)', [LOCK])
  try {
    return await work()
  } finally {
    await client.query('select pg_advisory_unlock($1)', [LOCK]).catch(() => {})
  }
}

/** Tables that are not placed yet, ordered so that referenced tables come first. Partitions follow their table. */
const UNPLACED = `
  with recursive referred as (
    select conrelid as own, confrelid as other from pg_constraint where contype = 'f' and conrelid <> confrelid
  ), depth as (
    select c.oid, 0 as steps from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    union all
    select r.own, d.steps + 1 from depth d join referred r on r.other = d.oid where d.steps < 20
  )
  select c.relname as name, p.partmethod as method, p.autoconverted as was_by_the_way, (
      select a.attname = 'org_id' from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
      where i.indrelid = c.oid and i.indisprimary
    ) is true as is_led_by_organization
  from pg_class c join (select oid, max(steps) as steps from depth group by oid) d on d.oid = c.oid
  left join pg_dist_partition p on p.logicalrelid = c.oid
  where c.oid not in (select objid from pg_depend where classid = 'pg_class'::regclass and deptype = 'e')
    and (p.logicalrelid is null or p.autoconverted)
  order by c.relname <> '${BESIDE}', d.steps, c.relname`

type Unplaced = { name: string; method: string | null; was_by_the_way: boolean | null; is_led_by_organization: boolean }

/** Composite types that statements use but no table has. A temporary table carries them to the nodes. */
const TYPES = `
  select t.typname as name from pg_type t join pg_class c on c.oid = t.typrelid
  where t.typnamespace = 'public'::regnamespace and c.relkind = 'c'
    and not exists (select from pg_dist_object o where o.classid = 'pg_type'::regclass and o.objid = t.oid)
  order by 1`

/**
 * Places every table that is not placed yet, with its rows, and returns their names. A second run does nothing.
 * @throws StartError for a table that belongs to no organization and is in no list; tables placed before it stay placed.
 */
export async function distribute(client: pg.ClientBase): Promise<string[]> {
  const { rows: types } = await client.query<{ name: string }>(TYPES)
  for (const { name } of types) await carryType(client, name)
  const { rows } = await client.query<Unplaced>(UNPLACED)
  const placed: string[] = []
  for (const table of rows) if (await place(client, table)) placed.push(table.name)
  return placed
}

async function place(client: pg.ClientBase, table: Unplaced): Promise<boolean> {
  const { name, method, was_by_the_way, is_led_by_organization } = table
  if (FIRST_NODE_TABLES.includes(name)) {
    if (method !== null && was_by_the_way !== true) return false
    await client.query(`select citus_add_local_table_to_metadata('${name}')`)
  } else if (REFERENCE_TABLES.includes(name)) await client.query(`select create_reference_table('${name}')`)
  else if (is_led_by_organization) {
    const beside = name === BESIDE ? 'none' : BESIDE
    await client.query(`select create_distributed_table('${name}', 'org_id', colocate_with => '${beside}')`)
  } else {
    throw new StartError(
      `the table ${name} has no place on a cluster: its primary key does not begin with org_id, and src/ground/db/distribute.ts does not name it`,
    )
  }
  if (!FIRST_NODE_TABLES.includes(name))
    await client.query(`select truncate_local_data_after_distributing_table('${name}')`)
  return true
}

async function carryType(client: pg.ClientBase, name: string): Promise<void> {
  await client.query('begin')
  await client.query(`create table carried (value ${name})`)
  await client.query(`select create_reference_table('carried')`)
  await client.query('drop table carried')
  await client.query('commit')
}
