/**
 * Reads an account's spend and books it: today and yesterday every hour, the last 7 days every night because platforms correct their figures, and
 * 30 days at first. Reads by days of the account's time zone, and books a UTC day once all of it was read. So a process that dies leaves only
 * whole days booked, and the next one reads them again.
 */
import { isCurrencyCode, USD } from '../../contract/currencies.ts'
import { DAY_MS, dayOf, HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import { msOfDatabase } from '../../contract/moments.ts'
import type { Ground } from '../../ground/room.ts'
import { fromMillionths, toMillionths } from '../billing/money.ts'
import { MOST_DAYS } from './api.ts'
import { wantRates } from '../rates/wanted.ts'
import { openPlatformRequests } from './ask.ts'
import { type BilledId, bookDay, bookDayAgain } from './booking.ts'
import {
  type ClaimedAccount,
  releaseSynced,
  releaseFaulty,
  releaseAccount,
  keepAccount,
  ACCOUNT_LEASE_MS,
  LostClaim,
  storeBilling,
} from './claims.ts'
import { divideByQuarters, nextDay, type AccountZone, accountZone } from './local-hours.ts'
import { daysToMatchAgain } from './matching.ts'
import { openMetaReader } from './meta.ts'
import { type HourSpend, SpendFault, type SpendReader } from './reader.ts'
import { openTikTokReader } from './tiktok.ts'

const EACH_HOUR_DAYS = 1
const EACH_NIGHT_DAYS = 7
/** The local hour by which platforms have the figures of the previous day. */
const NIGHT_HOUR = 3
/** The wait after a fault that needs a person. Rights are granted at the platform, so only a retry finds out. */
const LASTING_MS = DAY_MS
const FIRST_WAIT_MS = 5 * MINUTE_MS
const LONGEST_WAIT_MS = 6 * HOUR_MS
/** The most characters stored of a platform's message. */
const MOST_WORDS = 300
/** The claim is kept at pages of a report, but not more often than this. */
const KEPT_FOR_MS = 20_000

export type SyncGround = Pick<Ground, 'config' | 'database' | 'db' | 'log' | 'secrets'>
type SyncTime = { readonly now: number; readonly signal: AbortSignal }

/** Reads a claimed account and releases it, also after a fault. `now` in Unix milliseconds. Database errors are thrown. */
export async function syncAccount(
  ground: SyncGround,
  account: ClaimedAccount,
  { now, signal }: SyncTime,
): Promise<void> {
  const { db, log } = ground
  try {
    const deep_on = await readAndBook(ground, account, { now, signal })
    await releaseSynced(db, account, { next_ms: HOUR_MS, deep_on })
  } catch (error) {
    if (error instanceof LostClaim) return
    if (signal.aborted) return await releaseAccount(db, account).catch(() => {})
    if (!(error instanceof SpendFault)) throw error
    // The stored message is shown, and a platform may repeat the token in it. It is removed before the cut, so that no part of it remains.
    const words = error.message.replaceAll(ground.secrets.open(account.token), '…').slice(0, MOST_WORDS)
    const shownFault = new SpendFault(error.code, words)
    log.warn(
      { provider: account.provider, fault: error.code, reason: shownFault.message },
      'a spend account could not be read',
    )
    const wait = Math.min(FIRST_WAIT_MS * 2 ** Math.min(account.failures, 10), LONGEST_WAIT_MS)
    const next_ms = error.isPassing ? Math.max(wait, Math.min(error.wait_ms ?? 0, LONGEST_WAIT_MS)) : LASTING_MS
    await releaseFaulty(db, account, shownFault, next_ms).catch(thrown => {
      if (!(thrown instanceof LostClaim)) throw thrown
    })
  }
}

/** Returns the account's day if its last week was read. */
async function readAndBook(
  ground: SyncGround,
  account: ClaimedAccount,
  { now, signal }: SyncTime,
): Promise<string | undefined> {
  const { db } = ground
  const reader = openReader(ground, account, signal)
  const billing = await reader.describe()
  await storeBilling(db, account, billing)
  const zone = accountZone(billing.timezone)
  if (zone === undefined || billing.timezone === '')
    throw new SpendFault('timezone_unknown', `the account’s time zone “${billing.timezone}” is unknown`)
  const { currency } = billing
  if (!isCurrencyCode(currency)) throw new SpendFault('unexpected_answer', `the account bills in “${currency}”`)
  if (currency !== USD) await wantRates({ pool: ground.database.reads, config: ground.config })
  const { first, deep_on } = daysToRead(account, zone, now)
  const keepClaim = claimKeeper(ground, account)
  const unrated: string[] = []
  for await (const { day, billedIds } of daysFrom({ reader, zone, first, now, keepClaim })) {
    if (!(await bookDay(ground, account, day, { currency, billedIds }))) unrated.push(day)
    signal.throwIfAborted()
  }
  for (const day of await daysToMatchAgain(db, account, dayOf(now - MOST_DAYS * DAY_MS)))
    await bookDayAgain(ground, account, day)
  // Reported last, so that the days with a rate are booked first.
  if (unrated.length > 0)
    throw new SpendFault('rate_unknown', `no rate of ${currency} is known for ${listDays(unrated)}`)
  return deep_on
}

const listDays = ([first, ...more]: readonly string[]): string =>
  more.length === 0 ? `${first}` : `${first} and ${more.length} more days`

function openReader({ config, secrets }: SyncGround, account: ClaimedAccount, signal: AbortSignal): SpendReader {
  const reading = { request: openPlatformRequests(signal), token: secrets.open(account.token), account }
  if (account.provider === 'tiktok') return openTikTokReader({ ...reading, base: config.tiktokApiBase })
  return openMetaReader({ ...reading, base: config.metaGraphBase }, config.metaGraphVersion)
}

/** The first UTC day to read, and the account's day if this reads its last week. Days missed because of a fault are included. */
function daysToRead(
  { asked_days, deep_on, synced_at }: ClaimedAccount,
  zone: AccountZone,
  now: number,
): { first: string; deep_on: string | undefined } {
  const local = zone.at(now)
  const isNight = deep_on !== local.day && local.hour >= NIGHT_HOUR
  const planned = synced_at === null ? MOST_DAYS : isNight ? EACH_NIGHT_DAYS : EACH_HOUR_DAYS
  const missed = synced_at === null ? 0 : Math.ceil((now - msOfDatabase(synced_at)) / DAY_MS) + EACH_HOUR_DAYS
  const days = Math.min(Math.max(planned, asked_days ?? 0, missed > 2 ? missed : 0), MOST_DAYS)
  return { first: dayOf(now - days * DAY_MS), deep_on: days >= EACH_NIGHT_DAYS ? local.day : undefined }
}

function claimKeeper({ db }: SyncGround, account: ClaimedAccount): () => Promise<void> {
  let kept = performance.now()
  return async () => {
    if (performance.now() - kept < KEPT_FOR_MS) return
    await keepAccount(db, account, ACCOUNT_LEASE_MS)
    kept = performance.now()
  }
}

type DaysToRead = {
  readonly reader: SpendReader
  readonly zone: AccountZone
  readonly first: string
  readonly now: number
  readonly keepClaim: () => Promise<void>
}
type IdCosts = Map<string, { name: string; amount: bigint; is_estimated: boolean }>

/** The UTC days from `first` to that of `now`, including days without spend. Each is yielded once all local days it overlaps were read. */
async function* daysFrom({
  reader,
  zone,
  first,
  now,
  keepClaim,
}: DaysToRead): AsyncGenerator<{ day: string; billedIds: BilledId[] }> {
  const [today, lastLocal] = [dayOf(now), zone.at(now).day]
  const days = new Map<string, IdCosts>()
  let next = first
  for (let local = zone.at(Date.parse(`${first}T00:00:00Z`)).day; local <= lastLocal; local = nextDay(local)) {
    const hours = zone.hoursOf(local)
    for await (const page of reader.pagesOf(local)) {
      for (const row of page) addHour(days, hours, row)
      await keepClaim()
    }
    const readTo = local === lastLocal ? Number.POSITIVE_INFINITY : zone.startOf(nextDay(local))
    for (; next <= today && Date.parse(`${next}T00:00:00Z`) + DAY_MS <= readTo; next = nextDay(next)) {
      yield { day: next, billedIds: billedIdsOf(days.get(next)) }
      days.delete(next)
    }
  }
}

function addHour(days: Map<string, IdCosts>, hours: ReturnType<AccountZone['hoursOf']>, row: HourSpend): void {
  const parts = hours[row.hour] ?? []
  for (const { day, amount } of divideByQuarters(toMillionths(row.amount), parts)) {
    const costs: IdCosts = days.get(day) ?? new Map()
    const { amount: before = 0n, is_estimated = false } = costs.get(row.external_id) ?? {}
    const isGuess = parts.length > 1 && amount > 0n
    costs.set(row.external_id, { name: row.name, amount: before + amount, is_estimated: is_estimated || isGuess })
    days.set(day, costs)
  }
}

const billedIdsOf = (costs: IdCosts = new Map()): BilledId[] =>
  [...costs]
    .filter(([, { amount }]) => amount > 0n)
    .map(([external_id, { name, amount, is_estimated }]) => ({
      external_id,
      name,
      amount: fromMillionths(amount),
      is_estimated,
    }))
