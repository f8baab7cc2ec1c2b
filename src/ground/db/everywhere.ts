/**
 * Questions over all organizations. On a cluster such a question needs every node, so while one is away it is asked of the organizations of the
 * others alone: nobody's deliveries wait for somebody else's node.
 */
import type pg from 'pg'
import { isUnreachable, sqlState } from './faults.ts'

/**
 * Answers what to put behind a condition, such as ` and r.org_id = any($3)`, or nothing; `column` is the organization's. To be put behind the
 * conditions of every table there is: Citus asks a node as long as it may be needed for one of them.
 */
export type Among = (column: string) => string

/** The rows, and whether those of every organization are among them. */
export type Everywhere<Row> = { readonly rows: Row[]; readonly isWhole: boolean }

// Asked of the node that the connection leads to: whom it cannot reach, its statements cannot.
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

/** How long the nodes are taken for what they were: shorter than anyone waits, longer than a round of questions. */
const KNOWN_MS = 1000

type Standing = { readonly living: readonly number[]; readonly until: number }
const standings = new WeakMap<object, Standing>()

/** @throws what the database throws, where the whole of it is away or the statement is at fault. */
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
      // Another node has gone since.
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
    // What this process itself has lost says nothing about the nodes behind.
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
  // Not under a name: a plan that is kept for any list of organizations goes to every node.
  const { rows } = await pool.query<Row>({ text: text(among), values: [...values, living] })
  return { rows, isWhole: false }
}

const REACHED = `
  select o.org_id
  from unnest($1::int[]) as o (org_id)
  join pg_dist_placement p on p.shardid = get_shard_id_for_distribution_column('balances', o.org_id)
  where p.groupid = any($2)`

/** Those of a cluster's organizations whose node is there, for the node that is asked. @throws what the database throws */
export async function reachedAmong(pool: Pick<pg.Pool, 'query'>, org_ids: readonly number[]): Promise<number[]> {
  const { rows: nodes } = await pool.query<{ place: number; is_there: boolean }>(NODES)
  const there = nodes.filter(({ is_there }) => is_there).map(({ place }) => place)
  const { rows } = await pool.query<{ org_id: number }>({ text: REACHED, values: [[...org_ids], there] })
  return rows.map(({ org_id }) => org_id)
}

/** Undefined where no node is away, or there is but one. */
async function standingOf(pool: Pick<pg.Pool, 'query'>): Promise<Standing | undefined> {
  const { rows: nodes } = await pool.query<{ place: number; is_there: boolean }>(NODES)
  if (nodes.every(({ is_there }) => is_there)) return undefined
  const there = nodes.filter(({ is_there }) => is_there).map(({ place }) => place)
  const { rows } = await pool.query<{ living: number[] }>(LIVING, [there])
  const standing = { living: rows[0]?.living ?? [], until: performance.now() + KNOWN_MS }
  standings.set(pool, standing)
  return standing
}
