/**
 * Sources are asked from the first moment on that something in another currency is there: a network that converts, an offer's payout, an own
 * rate, spend, a cost of a click, or a rate that was looked for in vain. Until then Sluice tells nobody that it exists.
 */
import type pg from 'pg'
import type { Config } from '../../ground/config.ts'

const WANT = `
  insert into fx_sources (source) select name from unnest($1::text[]) as wanted (name) order by name
  on conflict do nothing`
const WANTED = 'select source from fx_sources limit 1'

type Asking = {
  readonly pool: Pick<pg.Pool, 'query'>
  readonly config: Pick<Config, 'fxSources' | 'openexchangeratesAppId'>
}

/** The sources this process may ask, in the order they are believed. */
export function sourceNames({ fxSources, openexchangeratesAppId }: Asking['config']): string[] {
  if (fxSources.length === 0) return []
  return [...fxSources, ...(openexchangeratesAppId === undefined ? [] : ['openexchangerates'])]
}

const wanted = new WeakSet<object>()

/** Has the sources asked from now on; the second time it does nothing. Throws what the database throws. */
export async function wantRates({ pool, config }: Asking): Promise<void> {
  const names = sourceNames(config)
  if (names.length === 0 || wanted.has(pool)) return
  await pool.query(WANT, [names])
  wanted.add(pool)
}

/** Sources that were set later are asked as well, where any is. */
export async function wantOthers(asking: Asking): Promise<void> {
  const { rows } = await asking.pool.query(WANTED)
  if (rows.length > 0) await wantRates(asking)
}
