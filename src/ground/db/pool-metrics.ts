/** The metrics of this process's database pools. */
import type pg from 'pg'
import { Gauge } from 'prom-client'

type Pools = Readonly<Record<string, Pick<pg.Pool, 'totalCount' | 'waitingCount'>>>

const opened = new Set<Pools>()

function gauge(name: string, help: string, valueOf: (pool: Pools[string]) => number): void {
  new Gauge({
    name,
    help,
    labelNames: ['pool'],
    collect() {
      this.reset()
      for (const [pool, of] of [...opened].flatMap(Object.entries<Pools[string]>)) this.inc({ pool }, valueOf(of))
    },
  })
}

gauge('sluice_pool_connections', 'Open database connections, by pool', ({ totalCount }) => totalCount)
gauge('sluice_pool_waiting', 'Statements that wait for a database connection, by pool', pool => pool.waitingCount)

/** Adds the pools, by name, to the metrics until the returned function is called. */
export function measurePools(pools: Pools): () => void {
  opened.add(pools)
  return () => void opened.delete(pools)
}
