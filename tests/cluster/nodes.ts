// A database on the cluster whose nodes are reached, also by each other, through proxies that can fail. This simulates a node's death
// on any cluster. The nodes must reach this machine by SLUICE_TEST_HOST.
import pg from 'pg'
import { freshDatabase } from '../support/database.ts'
import { type Proxy, startProxy } from '../support/proxy.ts'
import { settingsOf } from '../support/sharded.ts'

const HOST = process.env['SLUICE_TEST_HOST'] ?? '127.0.0.1'

export type Nodes = {
  /** For DATABASE_URL: every node, the coordinator first. */
  readonly url: string
  /** Connections that bypass the proxies, for checks. */
  readonly direct: pg.Pool
  /** The proxy of each node. */
  readonly proxies: readonly Proxy[]
  /** The organizations whose rows are on a node. */
  organizationsOf(node: number, among: readonly number[]): Promise<Set<number>>
  end(): Promise<void>
}

export async function startNodes(): Promise<
  Nodes & { database: Awaited<ReturnType<typeof freshDatabase>>['database'] }
> {
  const fresh = await freshDatabase()
  const addresses = fresh.url.split(',')
  const proxies = await Promise.all(addresses.map(address => startProxy(settingsOf(address))))
  const direct = new pg.Pool({ connectionString: addresses[0], max: 4 })
  direct.on('error', () => {})
  const { rows } = await direct.query<{ nodeid: number; groupid: number; nodeport: number }>(
    'select nodeid, groupid, nodeport from pg_dist_node order by groupid',
  )
  const ports = addresses.map(address => Number(settingsOf(address).port))
  const groups = ports.map(port => rows.find(({ nodeport }) => nodeport === port)?.groupid)
  for (const { nodeid, nodeport } of rows)
    await direct.query('select citus_update_node($1, $2, $3)', [
      nodeid,
      HOST,
      proxies[ports.indexOf(nodeport)]?.connection.port,
    ])
  const url = addresses.map((address, node) => {
    const through = new URL(address)
    through.host = `${HOST}:${proxies[node]?.connection.port}`
    return through.href
  })
  return {
    database: fresh.database,
    url: url.join(','),
    direct,
    proxies,
    async organizationsOf(node, among) {
      const { rows: found } = await direct.query<{ org_id: number }>(
        `select o.org_id from unnest($1::int[]) as o (org_id)
        join pg_dist_placement p on p.shardid = get_shard_id_for_distribution_column('balances', o.org_id) where p.groupid = $2`,
        [among, groups[node]],
      )
      return new Set(found.map(({ org_id }) => org_id))
    },
    async end() {
      for (const one of proxies) one.set('flow')
      await direct.end()
      await fresh.drop()
      await Promise.all(proxies.map(one => one.close()))
    },
  }
}
