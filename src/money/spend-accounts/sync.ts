/**
 * Reads an account's spend and books it: every hour today and yesterday, each night the last 7 days, because platforms put their figures right, and 30 days
 * at first. Reads day by day of the account's zone, and books a UTC day as soon as all of it has been read. A process that dies leaves whole days
 * behind, and the next one reads them again.
 */
import { isCurrencyCode, USD } from '../../contract/currencies.ts'
import { DAY_MS, dayOf, HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import type { Ground } from '../../ground/room.ts'
import { fromMillionths, toMillionths } from '../billing/money.ts'
import { MOST_DAYS } from './api.ts'
import { wantRates } from '../rates/wanted.ts'
import { asker } from './ask.ts'
import { type Billed, bookDay, bookDayAgain } from './booking.ts'
import { type Claimed, endWell, endWithFault, giveBack, keepClaim, LEASE_MS, LostClaim, noteBilling } from './claims.ts'
import { divide, nextDay, type Zone, zoneOf } from './local-hours.ts'
import { daysToMatchAgain } from './matching.ts'
import { readerOfMeta } from './meta.ts'
import { type HourSpend, SpendFault, type SpendReader } from './reader.ts'
import { readerOfTikTok } from './tiktok.ts'

const EACH_HOUR_DAYS = 1
const EACH_NIGHT_DAYS = 7
/** By then platforms have added up the day that has ended. */
const NIGHT_HOUR = 3
/** What waits for a person is looked at again a day later: rights are given at the platform, where Sluice is not told. */
const LASTING_MS = DAY_MS
const FIRST_WAIT_MS = 5 * MINUTE_MS
const LONGEST_WAIT_MS = 6 * HOUR_MS
/** Characters of what a platform says. */
const MOST_WORDS = 300
/** A claim is kept with each page, but not more often. */
const KEPT_FOR_MS = 20_000

export type Syncing = Pick<Ground, 'config' | 'database' | 'db' | 'log' | 'secrets'>
type When = { readonly now: number; readonly signal: AbortSignal }

/** Reads a claimed account and gives it back, whatever becomes of it. `now` in Unix milliseconds. Throws what the database throws. */
export async function syncAccount(ground: Syncing, account: Claimed, { now, signal }: When): Promise<void> {
  const { db, log } = ground
  try {
    const deep_on = await readAndBook(ground, account, { now, signal })
    await endWell(db, account, { next_ms: HOUR_MS, deep_on })
  } catch (error) {
    if (error instanceof LostClaim) return
    if (signal.aborted) return await giveBack(db, account).catch(() => {})
    if (!(error instanceof SpendFault)) throw error
    // A platform may say back what it was sent, and what is stored is shown. Struck out before it is cut: half a token is a secret too.
    const words = error.message.replaceAll(ground.secrets.open(account.token), '…').slice(0, MOST_WORDS)
    const said = new SpendFault(error.code, words)
    log.warn(
      { provider: account.provider, fault: error.code, reason: said.message },
      'a spend account could not be read',
    )
    const wait = Math.min(FIRST_WAIT_MS * 2 ** Math.min(account.failures, 10), LONGEST_WAIT_MS)
    const next_ms = error.isPassing ? Math.max(wait, Math.min(error.wait_ms ?? 0, LONGEST_WAIT_MS)) : LASTING_MS
    await endWithFault(db, account, said, next_ms).catch(thrown => {
      if (!(thrown instanceof LostClaim)) throw thrown
    })
  }
}

/** Answers the account's day if its last week was read. */
async function readAndBook(ground: Syncing, account: Claimed, { now, signal }: When): Promise<string | undefined> {
  const { db } = ground
  const reader = readerOf(ground, account, signal)
  const billing = await reader.describe()
  await noteBilling(db, account, billing)
  const zone = zoneOf(billing.timezone)
  if (zone === undefined || billing.timezone === '')
    throw new SpendFault(
      'timezone_unknown',
      `the account’s time zone is “${billing.timezone}”, which is not known here`,
    )
  const { currency } = billing
  if (!isCurrencyCode(currency)) throw new SpendFault('unexpected_answer', `the account bills in “${currency}”`)
  if (currency !== USD) await wantRates({ pool: ground.database.reads, config: ground.config })
  const { first, deep_on } = reachOf(account, zone, now)
  const keep = keeper(ground, account)
  const unrated: string[] = []
  for await (const { day, billed } of daysFrom({ reader, zone, first, now, keep })) {
    if (!(await bookDay(ground, account, day, { currency, billed }))) unrated.push(day)
    signal.throwIfAborted()
  }
  for (const day of await daysToMatchAgain(db, account, dayOf(now - MOST_DAYS * DAY_MS)))
    await bookDayAgain(ground, account, day)
  // The other days are booked: one without a rate keeps none back.
  if (unrated.length > 0) throw new SpendFault('rate_unknown', `no rate of ${currency} is known for ${named(unrated)}`)
  return deep_on
}

const named = ([first, ...more]: readonly string[]): string =>
  more.length === 0 ? `${first}` : `${first} and ${more.length} more days`

function readerOf({ config, secrets }: Syncing, account: Claimed, signal: AbortSignal): SpendReader {
  const reading = { ask: asker(signal), token: secrets.open(account.token), account }
  if (account.provider === 'tiktok') return readerOfTikTok({ ...reading, base: config.tiktokApiBase })
  return readerOfMeta({ ...reading, base: config.metaGraphBase }, config.metaGraphVersion)
}

/** The first UTC day to be read, and the account's day if that is the nightly look at its last week. What a fault has kept from being read is made up for. */
function reachOf(
  { asked_days, deep_on, synced_at }: Claimed,
  zone: Zone,
  now: number,
): { first: string; deep_on: string | undefined } {
  const there = zone.at(now)
  const isNight = deep_on !== there.day && there.hour >= NIGHT_HOUR
  const planned = synced_at === null ? MOST_DAYS : isNight ? EACH_NIGHT_DAYS : EACH_HOUR_DAYS
  const missed = synced_at === null ? 0 : Math.ceil((now - msOf(synced_at)) / DAY_MS) + EACH_HOUR_DAYS
  const days = Math.min(Math.max(planned, asked_days ?? 0, missed > 2 ? missed : 0), MOST_DAYS)
  return { first: dayOf(now - days * DAY_MS), deep_on: days >= EACH_NIGHT_DAYS ? there.day : undefined }
}

/** The database's text of a moment. */
const msOf = (text: string): number => Date.parse(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'))

function keeper({ db }: Syncing, account: Claimed): () => Promise<void> {
  let kept = performance.now()
  return async () => {
    if (performance.now() - kept < KEPT_FOR_MS) return
    await keepClaim(db, account, LEASE_MS)
    kept = performance.now()
  }
}

type Asked = {
  readonly reader: SpendReader
  readonly zone: Zone
  readonly first: string
  readonly now: number
  readonly keep: () => Promise<void>
}
type Costs = Map<string, { name: string; amount: bigint; is_estimated: boolean }>

/** The UTC days from `first` to that of `now`, each once all days of the zone that it lies in were read. Days without spend are there as well. */
async function* daysFrom({ reader, zone, first, now, keep }: Asked): AsyncGenerator<{ day: string; billed: Billed[] }> {
  const [today, lastThere] = [dayOf(now), zone.at(now).day]
  const days = new Map<string, Costs>()
  let next = first
  for (let there = zone.at(Date.parse(`${first}T00:00:00Z`)).day; there <= lastThere; there = nextDay(there)) {
    const hours = zone.hoursOf(there)
    for await (const page of reader.pagesOf(there)) {
      for (const row of page) add(days, hours, row)
      await keep()
    }
    const readTo = there === lastThere ? Number.POSITIVE_INFINITY : zone.startOf(nextDay(there))
    for (; next <= today && Date.parse(`${next}T00:00:00Z`) + DAY_MS <= readTo; next = nextDay(next)) {
      yield { day: next, billed: billedOf(days.get(next)) }
      days.delete(next)
    }
  }
}

function add(days: Map<string, Costs>, hours: ReturnType<Zone['hoursOf']>, row: HourSpend): void {
  const parts = hours[row.hour] ?? []
  for (const { day, amount } of divide(toMillionths(row.amount), parts)) {
    const costs: Costs = days.get(day) ?? new Map()
    const { amount: before = 0n, is_estimated = false } = costs.get(row.external_id) ?? {}
    const isGuess = parts.length > 1 && amount > 0n
    costs.set(row.external_id, { name: row.name, amount: before + amount, is_estimated: is_estimated || isGuess })
    days.set(day, costs)
  }
}

const billedOf = (costs: Costs = new Map()): Billed[] =>
  [...costs]
    .filter(([, { amount }]) => amount > 0n)
    .map(([external_id, { name, amount, is_estimated }]) => ({
      external_id,
      name,
      amount: fromMillionths(amount),
      is_estimated,
    }))
