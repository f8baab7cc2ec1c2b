/**
 * The rates of these days in memory, for the redirect, which asks nobody while a visitor waits. Own rates are told by NOTIFY and looked up each
 * second, those of sources each minute; while the database is away, what is here goes on holding. Owns no table.
 */
import type { Kysely } from 'kysely'
import type { Ground } from '../../ground/room.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { followed } from '../../ground/following.ts'
import { USD } from '../../contract/currencies.ts'
import { DAY_MS, dayOf, MINUTE_MS } from '../../contract/days.ts'
import { GOOD_FOR_DAYS, orderOf } from './rate-of-day.ts'
import { dayAfter } from './source.ts'
import { wantRates } from './wanted.ts'

/** The sources' rates change a few times a day. */
const SOURCES_MS = MINUTE_MS
/** Clocks of processes differ by less, and what a transaction wrote late is younger. */
const OVERLAP_MS = 5 * MINUTE_MS
const BEGINNING = '1970-01-01T00:00:00Z'

const PUBLISHED = 'select currency, source, day, usd_per_unit from fx_rates where day >= $1::date'
const OWN = (among: Among) => `
  select org_id, id, currency, from_day, usd_per_unit, created_at
  from org_rates where created_at >= $1::timestamptz${among('org_id')}`

type Published = { currency: string; source: string; day: string; usd_per_unit: string }
type Own = {
  org_id: number
  id: string
  currency: string
  from_day: string
  usd_per_unit: string | null
  created_at: string
}

type LiveRates = {
  /** Dollars for one unit on a UTC day, to an organization, as a decimal string; undefined where no rate is known. From memory. */
  readonly usdPerUnit: (org_id: number, currency: string, day: string) => string | undefined
  readonly close: () => Promise<void>
}

const rates = followed('sluice_rates', 'rates')

/** Tells every process that an own rate was added: after the commit, before the answer. Never rejects. */
export const announceOwnRate = (db: Kysely<Tables>): Promise<void> => rates.announce(db)

/** Loads the rates and keeps them fresh until it is closed. */
export async function openLiveRates(ground: Pick<Ground, 'database' | 'db' | 'config' | 'log'>): Promise<LiveRates> {
  const { database, config } = ground
  const pool = database.worker
  const order = orderOf(config)
  const memory = openMemory(order)
  let read_at = Number.NEGATIVE_INFINITY
  let since = BEGINNING
  const read = async () => {
    const now = performance.now()
    if (now - read_at > SOURCES_MS) {
      const first = dayOf(Date.now() - (GOOD_FOR_DAYS + 2) * DAY_MS)
      memory.publish((await pool.query<Published>(PUBLISHED, [first])).rows)
      read_at = now
    }
    const { rows, isWhole: isAll } = await askEverywhere<Own>(pool, OWN, [since])
    for (const row of rows) memory.own(row)
    if (isAll) since = new Date(Date.now() - OVERLAP_MS).toISOString()
  }
  const missed = () => {
    read_at = Number.NEGATIVE_INFINITY
    since = BEGINNING
  }
  const { close } = await rates.follow(ground, { read, missed })
  const wanted = { pool, config }
  return {
    usdPerUnit(org_id, currency, day) {
      if (currency === USD) return '1'
      const found = memory.find(org_id, currency, day)
      // What is looked for in vain is asked for from then on.
      if (found === undefined) void wantRates(wanted).catch(() => undefined)
      return found
    },
    close,
  }
}

function openMemory(order: readonly string[]) {
  let published = new Map<string, Published[]>()
  const owns = new Map<string, Own[]>()
  const rankOf = (source: string) => (order.includes(source) ? order.indexOf(source) : order.length)
  /** As the statement orders them: whose word goes first, then the latest. */
  const first = (a: Published, b: Published) =>
    rankOf(a.source) - rankOf(b.source) || compare(a.source, b.source) || compare(b.day, a.day)
  const latest = (a: Own, b: Own) =>
    compare(b.from_day, a.from_day) || compare(b.created_at, a.created_at) || compare(b.id, a.id)
  return {
    publish(rows: readonly Published[]) {
      published = new Map(
        [...Map.groupBy(rows, ({ currency }) => currency)].map(([code, of]) => [code, of.toSorted(first)]),
      )
    },
    own(row: Own) {
      const key = `${row.org_id} ${row.currency}`
      const others = (owns.get(key) ?? []).filter(({ id }) => id !== row.id)
      owns.set(key, [...others, row].toSorted(latest))
    },
    find(org_id: number, currency: string, day: string): string | undefined {
      const own = owns.get(`${org_id} ${currency}`)?.find(({ from_day }) => from_day <= day)?.usd_per_unit
      if (own != null) return own
      const oldest = dayAfter(day, -GOOD_FOR_DAYS)
      return published.get(currency)?.find(rate => rate.day < day && rate.day >= oldest)?.usd_per_unit
    },
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
