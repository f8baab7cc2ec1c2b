/**
 * Statements over all organizations. On a cluster they need every node, so while a node is away they are limited to the organizations of the other
 * nodes: no organization's deliveries wait for another one's node.
 */
import type pg from 'pg'
import { isUnreachable, sqlState } from './faults.ts'

/**
 * Returns a further condition such as ` and r.org_id = any($3)`, or an empty text. `column` is the column of the organization. Add it to the
 * conditions of every table in the statement, because Citus contacts each node that one of them may need.
 */
export type Among = (column: string) => string

/** The rows, and whether every organization was asked. */
export type Everywhere<Row> = { readonly rows: Row[]; readonly isWhole: boolean }

// Run on the node that the connection leads to, because its statements reach the same nodes as this check.
const NODES = `
  select groupid as place, citus_check_connection_to_node(nodename, nodeport) as is_there
  from pg_dist_node where noderole = 'primary'`
const LIVING = `
  select array(
    select o.org_id
    from organizations o
    join pg_dist_placement p on p.shardid = get_shard_id_for_distribution_column('balances', o.org_id)
    where p.groupid = any($1)
  ) as living`

/** How long the state of the nodes is believed: longer than one run of statements, shorter than anyone waits. */
const KNOWN_MS = 1000

type Standing = { readonly living: readonly number[]; readonly until: number }
const standings = new WeakMap<object, Standing>()

/** Runs the statement over all organizations that can be reached. @throws the database's error if all of it is away or the statement is wrong. */
export async function askEverywhere<Row extends pg.QueryResultRow>(
  pool: Pick<pg.Pool, 'query'>,
  text: (among: Among) => string,
  values: readonly unknown[] = [],
): Promise<Everywhere<Row>> {
  const known = standings.get(pool)
  if (known !== undefined && performance.now() < known.until)
    try {
      return await askLiving(pool, text, values, known)
    } catch (error) {
      // Another node is away since.
      if (!isUnreachable(error)) throw error
      standings.delete(pool)
    }
  try {
    const { rows } = await pool.query<Row>(
      text(() => ''),
      [...values],
    )
    return { rows, isWhole: true }
  } catch (error) {
    // An error without SQLSTATE is a lost connection of this process, which says nothing about the other nodes.
    if (!isUnreachable(error) || sqlState(error) === undefined) throw error
    const standing = await standingOf(pool).catch(() => undefined)
    if (standing === undefined) throw error
    return askLiving(pool, text, values, standing)
  }
}

async function askLiving<Row extends pg.QueryResultRow>(
  pool: Pick<pg.Pool, 'query'>,
  text: (among: Among) => string,
  values: readonly unknown[],
  { living }: Standing,
): Promise<Everywhere<Row>> {
  const among = (column: string) => ` and ${column} = any($${values.length + 1}::int[])`
  // Without a name: a stored plan for any list of organizations would contact every node.
  const { rows } = await pool.query<Row>({ text: text(among), values: [...values, living] })
  return { rows, isWhole: false }
}

const REACHED = `
  select o.org_id
  from unnest($1::int[]) as o (org_id)
  join pg_dist_placement p on p.shardid = get_shard_id_for_distribution_column('balances', o.org_id)
  where p.groupid = any($2)`

/** Those of the organizations on a cluster whose node can be reached. @throws the database's error */
export async function reachedAmong(pool: Pick<pg.Pool, 'query'>, org_ids: readonly number[]): Promise<number[]> {
  const { rows: nodes } = await pool.query<{ place: number; is_there: boolean }>(NODES)
  const there = nodes.filter(({ is_there }) => is_there).map(({ place }) => place)
  const { rows } = await pool.query<{ org_id: number }>({ text: REACHED, values: [[...org_ids], there] })
  return rows.map(({ org_id }) => org_id)
}

/** Undefined if no node is away, or there is only one. */
async function standingOf(pool: Pick<pg.Pool, 'query'>): Promise<Standing | undefined> {
  const { rows: nodes } = await pool.query<{ place: number; is_there: boolean }>(NODES)
  if (nodes.every(({ is_there }) => is_there)) return undefined
  const there = nodes.filter(({ is_there }) => is_there).map(({ place }) => place)
  const { rows } = await pool.query<{ living: number[] }>(LIVING, [there])
  const standing = { living: rows[0]?.living ?? [], until: performance.now() + KNOWN_MS }
  standings.set(pool, standing)
  return standing
}
