// A database on the cluster whose nodes reach each other, and are reached, through machines in between that can fail: what a node's death
// is to all others, wherever the cluster runs. The nodes must reach this machine by SLUICE_TEST_HOST.
import pg from 'pg'
import { freshDatabase } from '../support/database.ts'
import { type Proxy, startProxy } from '../support/proxy.ts'
import { settingsOf } from '../support/sharded.ts'

const HOST = process.env['SLUICE_TEST_HOST'] ?? '127.0.0.1'

export type Nodes = {
  /** For DATABASE_URL: every node, the first one first. */
  readonly url: string
  /** Past everything that can fail, for who judges. */
  readonly judge: pg.Pool
  /** The machine before each node. */
  readonly before: readonly Proxy[]
  /** The organizations whose rows lie on a node. */
  organizationsOf(node: number, among: readonly number[]): Promise<Set<number>>
  end(): Promise<void>
}

export async function startNodes(): Promise<
  Nodes & { database: Awaited<ReturnType<typeof freshDatabase>>['database'] }
> {
  const fresh = await freshDatabase()
  const addresses = fresh.url.split(',')
  const before = await Promise.all(addresses.map(address => startProxy(settingsOf(address))))
  const judge = new pg.Pool({ connectionString: addresses[0], max: 4 })
  judge.on('error', () => {})
  const { rows } = await judge.query<{ nodeid: number; groupid: number; nodeport: number }>(
    'select nodeid, groupid, nodeport from pg_dist_node order by groupid',
  )
  const ports = addresses.map(address => Number(settingsOf(address).port))
  const groups = ports.map(port => rows.find(({ nodeport }) => nodeport === port)?.groupid)
  for (const { nodeid, nodeport } of rows)
    await judge.query('select citus_update_node($1, $2, $3)', [
      nodeid,
      HOST,
      before[ports.indexOf(nodeport)]?.connection.port,
    ])
  const url = addresses.map((address, node) => {
    const through = new URL(address)
    through.host = `${HOST}:${before[node]?.connection.port}`
    return through.href
  })
  return {
    database: fresh.database,
    url: url.join(','),
    judge,
    before,
    async organizationsOf(node, among) {
      const { rows: found } = await judge.query<{ org_id: number }>(
        `select o.org_id from unnest($1::int[]) as o (org_id)
        join pg_dist_placement p on p.shardid = get_shard_id_for_distribution_column('balances', o.org_id) where p.groupid = $2`,
        [among, groups[node]],
      )
      return new Set(found.map(({ org_id }) => org_id))
    },
    async end() {
      for (const one of before) one.set('flow')
      await judge.end()
      await fresh.drop()
      await Promise.all(before.map(one => one.close()))
    },
  }
}
