/**
 * Fetches rates from the sources. Owns `fx_sources`; one process at a time fetches from a source, under a lease by the database's clock. A
 * failed fetch is retried after ten minutes, then at longer intervals of up to three hours; stored rates stay in use for seven days. Rates are
 * only added, so the same answer twice changes nothing.
 */
import type pg from 'pg'
import { type Dispatcher, request } from 'undici'
import { dayOf, MINUTE_MS } from '../../contract/days.ts'
import type { Config } from '../../ground/config.ts'
import { databaseTimeIn } from '../../ground/db/clock.ts'
import { openQuiet } from '../../ground/db/quiet.ts'
import { guardedAgent } from '../../ground/guard.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'
import { cbr } from './cbr.ts'
import { ecb } from './ecb.ts'
import { openexchangerates } from './openexchangerates.ts'
import { type FetchText, type Quote, type SourceReader, UnexpectedAnswer } from './source.ts'
import { sourceNames, addNewSources } from './wanted.ts'

const POLL_MS = 2000
/** Longer than all requests to a source may take together. */
const LEASE_MS = 10 * MINUTE_MS
/** Often enough to have an afternoon's rates long before the UTC day they apply from. */
const AGAIN_MS = 3 * 60 * MINUTE_MS
const AFTER_FAILURE_MS = 10 * MINUTE_MS
const TIMEOUT_MS = 20_000
/** Twenty times the size of ninety days of thirty currencies. */
const MOST_BYTES = 4 * 1024 * 1024
/** Answers with days further ahead are rejected as wrong. */
const AHEAD_DAYS_MS = 4 * 24 * 60 * MINUTE_MS

const DUE = `
  select source, newest_day, failures
  from fx_sources
  where source = any($1) and (due_at is null or due_at <= now()) and (claimed_until is null or claimed_until < now())`
const CLAIM = `
  update fx_sources set claimed_until = $2
  where source = $1 and (due_at is null or due_at <= now()) and (claimed_until is null or claimed_until < now())
  returning source`
const STORE = `
  insert into fx_rates (currency, source, day, usd_per_unit, fetched_at)
  select q.currency, $1, q.day, q.usd_per_unit, $2::timestamptz
  from unnest($3::text[], $4::date[], $5::numeric[]) as q (currency, day, usd_per_unit)
  on conflict do nothing`
const SUCCEEDED = `
  update fx_sources
  set due_at = $2, claimed_until = null, fetched_at = $3, newest_day = greatest(newest_day, $4::date), failures = 0, error = null
  where source = $1 and claimed_until = $5`
const FAILED = `
  update fx_sources set due_at = $2, claimed_until = null, failures = failures + 1, error = $3
  where source = $1 and claimed_until = $4`

type FetchGround = Pick<Ground, 'db'> & {
  readonly pool: pg.Pool
  readonly config: Config
  readonly agent: Dispatcher
  readonly log: Ground['log']
}

/** Fetches from the sources that are due, every few seconds. Any number of processes may do this. Does nothing without sources. */
export function openRateFetch({
  database,
  db,
  config,
  log,
}: Pick<Ground, 'database' | 'db' | 'config' | 'log'>): Rounds {
  if (sourceNames(config).length === 0) return { close: async () => {} }
  const agent = guardedAgent({ allowPrivate: config.allowPrivateTargets, connections: 1 })
  const ground = { pool: database.worker, db, config, agent, log }
  const rounds = openRounds(
    'rates/fetch',
    POLL_MS,
    signal => fetchDueSources(ground, signal),
    error => log.warn({ err: error }, 'could not check which rate sources are due; retrying'),
    openQuiet(database.worker, () => 'select min(due_at) as at from fx_sources where due_at > now()'),
  )
  return {
    async close() {
      await rounds.close()
      await agent.close()
    },
  }
}

type DueSource = { source: string; newest_day: string | null; failures: number }
type ClaimedSource = DueSource & { until: string }

async function fetchDueSources(ground: FetchGround, signal: AbortSignal): Promise<void> {
  await addNewSources(ground)
  const { rows } = await ground.pool.query<DueSource>(DUE, [sourceNames(ground.config)])
  for (const due of rows) {
    if (signal.aborted) return
    const until = await databaseTimeIn(ground.db, LEASE_MS)
    const claimed = await ground.pool.query(CLAIM, [due.source, until])
    if (claimed.rows.length > 0) await fetchSource(ground, { ...due, until }, signal)
  }
}

async function fetchSource(
  { pool, db, config, agent, log }: FetchGround,
  due: ClaimedSource,
  signal: AbortSignal,
): Promise<void> {
  const { source, newest_day, failures, until } = due
  try {
    const now = Date.now()
    const quotes = await sourceReader(source, config).read(
      textFetcher(agent, signal),
      newest_day ?? undefined,
      dayOf(now),
    )
    requireNear(quotes, now)
    const at = new Date(now).toISOString()
    await storeRates(pool, source, quotes, at)
    const newest = quotes.reduce<string | null>((last, { day }) => (last !== null && last > day ? last : day), null)
    await pool.query(SUCCEEDED, [source, await databaseTimeIn(db, AGAIN_MS), at, newest, until])
  } catch (error) {
    // While closing, an error says nothing about the source. It is due at once for the next process.
    const wait_ms = signal.aborted ? 0 : Math.min(AFTER_FAILURE_MS * 2 ** failures, AGAIN_MS)
    const words = signal.aborted ? null : describeError(error)
    if (words !== null) log.warn({ source, error: words }, 'could not fetch rates; retrying later')
    await pool.query(FAILED, [source, await databaseTimeIn(db, wait_ms), words, until])
  }
}

/** Adds rates. A stored rate of the same source, currency and day stays as it is. */
async function storeRates(pool: pg.Pool, source: string, quotes: readonly Quote[], at: string): Promise<void> {
  const rates = quotes.map(({ usd_per_unit }) => usd_per_unit)
  const [currencies, days] = [quotes.map(({ currency }) => currency), quotes.map(({ day }) => day)]
  await pool.query(STORE, [source, at, currencies, days, rates])
}

function sourceReader(name: string, config: Config): SourceReader {
  if (name === 'ecb') return ecb(config.ecbBase)
  if (name === 'cbr') return cbr(config.cbrBase)
  return openexchangerates(config.openexchangeratesBase, config.openexchangeratesAppId ?? '')
}

/** Rejects days far ahead: one would count as the newest day for ever, and later rates would not be fetched. */
function requireNear(quotes: readonly Quote[], now: number): void {
  const last = dayOf(now + AHEAD_DAYS_MS)
  const ahead = quotes.find(({ day }) => day > last)
  if (ahead !== undefined) throw new UnexpectedAnswer(`its answer has rates for ${ahead.day}`)
}

const textFetcher =
  (agent: Dispatcher, closing: AbortSignal): FetchText =>
  async address => {
    const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), closing])
    const { statusCode, body } = await request(address, {
      dispatcher: agent,
      headers: { 'user-agent': 'Sluice', accept: '*/*' },
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
      signal,
    })
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > MOST_BYTES) throw new UnexpectedAnswer('its answer is too long')
      chunks.push(chunk)
    }
    if (statusCode !== 200) throw new UnexpectedAnswer(`it answered HTTP ${statusCode}`)
    return Buffer.concat(chunks).toString('latin1')
  }

/** The error for the screen, without the address, which may contain an app id. */
function describeError(error: unknown): string {
  if (error instanceof UnexpectedAnswer) return error.message
  if (error instanceof Error && error.name === 'TimeoutError') return `no complete answer within ${TIMEOUT_MS / 1000} s`
  if (error instanceof Error && 'code' in error && typeof error.code === 'string')
    return `no connection (${error.code})`
  return error instanceof Error ? error.name : 'it failed'
}
