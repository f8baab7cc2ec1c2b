/**
 * Recent rates in memory, for the redirect, which must not wait for the database. Own rates are refreshed by NOTIFY and at each commit,
 * those of sources each minute. While the database is away, the rates in memory stay in use. Owns no table.
 */
import type { Kysely } from 'kysely'
import type { Ground } from '../../ground/room.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { channelFor } from '../../ground/following.ts'
import { USD } from '../../contract/currencies.ts'
import { DAY_MS, dayOf, MINUTE_MS } from '../../contract/days.ts'
import { GOOD_FOR_DAYS, sourceOrder } from './rate-of-day.ts'
import { addDays } from './source.ts'
import { wantRates } from './wanted.ts'

/** The sources' rates change a few times a day. */
const SOURCES_MS = MINUTE_MS
/** Own rates of the last minutes are read again: clocks of processes differ, and transactions may commit late, but by less than this. */
const OVERLAP_MS = 5 * MINUTE_MS
const BEGINNING = '1970-01-01T00:00:00Z'

const READ_PUBLISHED = 'select currency, source, day, usd_per_unit from fx_rates where day >= $1::date'
const READ_OWN = (among: Among) => `
  select org_id, id, currency, from_day, usd_per_unit, created_at
  from org_rates where created_at >= $1::timestamptz${among('org_id')}`

type PublishedRate = { currency: string; source: string; day: string; usd_per_unit: string }
type OwnRateRow = {
  org_id: number
  id: string
  currency: string
  from_day: string
  usd_per_unit: string | null
  created_at: string
}

export type LiveRates = {
  /** US dollars per unit on a UTC day for an organization, as a decimal string; undefined if no rate is known. From memory. */
  readonly usdPerUnit: (org_id: number, currency: string, day: string) => string | undefined
  readonly close: () => Promise<void>
}

const rates = channelFor('sluice_rates', 'rates')

/** Notifies every process of a new own rate. Call it after the commit and before the answer. Never rejects. */
export const announceOwnRate = (db: Kysely<Tables>): Promise<void> => rates.announce(db)

/** Loads the rates and keeps them fresh until it is closed. */
export async function openLiveRates(ground: Pick<Ground, 'database' | 'db' | 'config' | 'log'>): Promise<LiveRates> {
  const { database, config } = ground
  const pool = database.worker
  const order = sourceOrder(config)
  const memory = openMemory(order)
  let read_at = Number.NEGATIVE_INFINITY
  let since = BEGINNING
  const read = async () => {
    const now = performance.now()
    if (now - read_at > SOURCES_MS) {
      const first = dayOf(Date.now() - (GOOD_FOR_DAYS + 2) * DAY_MS)
      memory.publish((await pool.query<PublishedRate>(READ_PUBLISHED, [first])).rows)
      read_at = now
    }
    const { rows, isWhole: isAll } = await askEverywhere<OwnRateRow>(pool, READ_OWN, [since])
    for (const row of rows) memory.own(row)
    if (isAll) since = new Date(Date.now() - OVERLAP_MS).toISOString()
  }
  const onGap = () => {
    read_at = Number.NEGATIVE_INFINITY
    since = BEGINNING
  }
  const { close } = await rates.follow(ground, { read, onGap })
  const wanted = { pool, config }
  return {
    usdPerUnit(org_id, currency, day) {
      if (currency === USD) return '1'
      const rate = memory.find(org_id, currency, day)
      // From now on rates are fetched, so that later calls find one.
      if (rate === undefined) void wantRates(wanted).catch(() => undefined)
      return rate
    },
    close,
  }
}

function openMemory(order: readonly string[]) {
  let published = new Map<string, PublishedRate[]>()
  const owns = new Map<string, OwnRateRow[]>()
  const rankOf = (source: string) => (order.includes(source) ? order.indexOf(source) : order.length)
  /** The order of the statement in rate-of-day.ts: by precedence of the source, then the latest day. */
  const first = (a: PublishedRate, b: PublishedRate) =>
    rankOf(a.source) - rankOf(b.source) || compare(a.source, b.source) || compare(b.day, a.day)
  const latest = (a: OwnRateRow, b: OwnRateRow) =>
    compare(b.from_day, a.from_day) || compare(b.created_at, a.created_at) || compare(b.id, a.id)
  return {
    publish(rows: readonly PublishedRate[]) {
      published = new Map(
        [...Map.groupBy(rows, ({ currency }) => currency)].map(([code, of]) => [code, of.toSorted(first)]),
      )
    },
    own(row: OwnRateRow) {
      const key = `${row.org_id} ${row.currency}`
      const others = (owns.get(key) ?? []).filter(({ id }) => id !== row.id)
      owns.set(key, [...others, row].toSorted(latest))
    },
    find(org_id: number, currency: string, day: string): string | undefined {
      const own = owns.get(`${org_id} ${currency}`)?.find(({ from_day }) => from_day <= day)?.usd_per_unit
      if (own != null) return own
      const oldest = addDays(day, -GOOD_FOR_DAYS)
      return published.get(currency)?.find(rate => rate.day < day && rate.day >= oldest)?.usd_per_unit
    },
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
