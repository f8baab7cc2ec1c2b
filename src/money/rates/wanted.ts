/**
 * Rates are fetched only once something uses another currency: a network that converts, an offer's payout, an own rate, spend, the cost of a
 * click, or a lookup without a result. Until then Sluice contacts no source.
 */
import type pg from 'pg'
import type { Config } from '../../ground/config.ts'

const ADD_SOURCES = `
  insert into fx_sources (source) select name from unnest($1::text[]) as poolsWithRates (name) order by name
  on conflict do nothing`
const READ_ANY = 'select source from fx_sources limit 1'

type RateSettings = {
  readonly pool: Pick<pg.Pool, 'query'>
  readonly config: Pick<Config, 'fxSources' | 'openexchangeratesAppId'>
}

/** The sources this process may fetch from, by precedence. */
export function sourceNames({ fxSources, openexchangeratesAppId }: RateSettings['config']): string[] {
  if (fxSources.length === 0) return []
  return [...fxSources, ...(openexchangeratesAppId === undefined ? [] : ['openexchangerates'])]
}

const poolsWithRates = new WeakSet<object>()

/** Starts fetching rates. Does nothing the second time. Database errors are thrown. */
export async function wantRates({ pool, config }: RateSettings): Promise<void> {
  const names = sourceNames(config)
  if (names.length === 0 || poolsWithRates.has(pool)) return
  await pool.query(ADD_SOURCES, [names])
  poolsWithRates.add(pool)
}

/** Adds sources that were configured later, if rates are being fetched at all. */
export async function addNewSources(settings: RateSettings): Promise<void> {
  const { rows } = await settings.pool.query(READ_ANY)
  if (rows.length > 0) await wantRates(settings)
}
