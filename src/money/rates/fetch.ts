/**
 * Asks the sources for their rates. Owns `fx_sources`; one process at a time asks a source, under a lease by the database's clock. A source that
 * fails is asked again after ten minutes, then ever more rarely up to three hours; what is stored goes on being used for seven days. Rates are
 * only added, so an answer that came twice changes nothing.
 */
import type pg from 'pg'
import { type Dispatcher, request } from 'undici'
import { dayOf, MINUTE_MS } from '../../contract/days.ts'
import type { Config } from '../../ground/config.ts'
import { guardedAgent } from '../../ground/guard.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'
import { cbr } from './cbr.ts'
import { ecb } from './ecb.ts'
import { openexchangerates } from './openexchangerates.ts'
import { type Get, type Quote, type Source, UnexpectedAnswer } from './source.ts'
import { sourceNames, wantOthers } from './wanted.ts'

const POLL_MS = 2000
/** Longer than all of a source's answers may take together. */
const LEASE_MS = 10 * MINUTE_MS
/** Often enough that an afternoon's rates are there long before the UTC day they hold from. */
const AGAIN_MS = 3 * 60 * MINUTE_MS
const AFTER_FAILURE_MS = 10 * MINUTE_MS
const TIMEOUT_MS = 20_000
/** Ninety days of thirty currencies are a twentieth of it. */
const MOST_BYTES = 4 * 1024 * 1024
/** A source that names days further ahead is not what it was. */
const AHEAD_DAYS_MS = 4 * 24 * 60 * MINUTE_MS

const DUE = `
  select source, newest_day, failures, now() + $2::int * interval '1 millisecond' as until
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
const LATER = `select now() + $1::int * interval '1 millisecond' as due_at`
const SUCCEEDED = `
  update fx_sources
  set due_at = $2, claimed_until = null, fetched_at = $3, newest_day = greatest(newest_day, $4::date), failures = 0, error = null
  where source = $1 and claimed_until = $5`
const FAILED = `
  update fx_sources set due_at = $2, claimed_until = null, failures = failures + 1, error = $3
  where source = $1 and claimed_until = $4`

type Asking = {
  readonly pool: pg.Pool
  readonly config: Config
  readonly agent: Dispatcher
  readonly log: Ground['log']
}

/** Looks every few seconds which sources are due; any number of processes may. With none set it does nothing. */
export function openRateFetch({ database, config, log }: Pick<Ground, 'database' | 'config' | 'log'>): Rounds {
  if (sourceNames(config).length === 0) return { close: async () => {} }
  const agent = guardedAgent({ allowPrivate: config.allowPrivateTargets, connections: 1 })
  const asking = { pool: database.worker, config, agent, log }
  const rounds = openRounds(
    'rates/fetch',
    POLL_MS,
    signal => askDueSources(asking, signal),
    error => log.warn({ err: error }, 'the sources of rates could not be looked at; it is tried again'),
  )
  return {
    async close() {
      await rounds.close()
      await agent.close()
    },
  }
}

type Due = { source: string; newest_day: string | null; failures: number; until: string }

async function askDueSources(asking: Asking, signal: AbortSignal): Promise<void> {
  await wantOthers(asking)
  const { rows } = await asking.pool.query<Due>(DUE, [sourceNames(asking.config), LEASE_MS])
  for (const due of rows) {
    if (signal.aborted) return
    const claimed = await asking.pool.query(CLAIM, [due.source, due.until])
    if (claimed.rows.length > 0) await askSource(asking, due, signal)
  }
}

async function askSource({ pool, config, agent, log }: Asking, due: Due, signal: AbortSignal): Promise<void> {
  const { source, newest_day, failures, until } = due
  try {
    const now = Date.now()
    const quotes = await sourceOf(source, config).read(getter(agent, signal), newest_day ?? undefined, dayOf(now))
    requireNear(quotes, now)
    const at = new Date(now).toISOString()
    await storeRates(pool, source, quotes, at)
    const newest = quotes.reduce<string | null>((last, { day }) => (last !== null && last > day ? last : day), null)
    await pool.query(SUCCEEDED, [source, await later(pool, AGAIN_MS), at, newest, until])
  } catch (error) {
    // A closing process says nothing of the source: the next one asks it.
    const wait = signal.aborted ? 0 : Math.min(AFTER_FAILURE_MS * 2 ** failures, AGAIN_MS)
    const words = signal.aborted ? null : wordsOf(error)
    if (words !== null) log.warn({ source, error: words }, 'a source of rates gave none; it is asked again')
    await pool.query(FAILED, [source, await later(pool, wait), words, until])
  }
}

async function later(pool: pg.Pool, ms: number): Promise<string> {
  const { rows } = await pool.query<{ due_at: string }>(LATER, [ms])
  return rows[0]?.due_at ?? new Date(Date.now() + ms).toISOString()
}

/** Adds rates; those of a day and currency that are there stay as they are. */
async function storeRates(pool: pg.Pool, source: string, quotes: readonly Quote[], at: string): Promise<void> {
  const rates = quotes.map(({ usd_per_unit }) => usd_per_unit)
  const [currencies, days] = [quotes.map(({ currency }) => currency), quotes.map(({ day }) => day)]
  await pool.query(STORE, [source, at, currencies, days, rates])
}

function sourceOf(name: string, config: Config): Source {
  if (name === 'ecb') return ecb(config.ecbBase)
  if (name === 'cbr') return cbr(config.cbrBase)
  return openexchangerates(config.openexchangeratesBase, config.openexchangeratesAppId ?? '')
}

/** A day far ahead would be taken for the newest for ever. */
function requireNear(quotes: readonly Quote[], now: number): void {
  const last = dayOf(now + AHEAD_DAYS_MS)
  const ahead = quotes.find(({ day }) => day > last)
  if (ahead !== undefined) throw new UnexpectedAnswer(`it holds rates of ${ahead.day}`)
}

const getter =
  (agent: Dispatcher, closing: AbortSignal): Get =>
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
    if (statusCode !== 200) throw new UnexpectedAnswer(`it answered with ${statusCode}`)
    return Buffer.concat(chunks).toString('latin1')
  }

/** What went wrong, for the screen: never the address, which may hold an app id. */
function wordsOf(error: unknown): string {
  if (error instanceof UnexpectedAnswer) return error.message
  if (error instanceof Error && error.name === 'TimeoutError') return `no complete answer within ${TIMEOUT_MS / 1000} s`
  if (error instanceof Error && 'code' in error && typeof error.code === 'string')
    return `no connection (${error.code})`
  return error instanceof Error ? error.name : 'it failed'
}
