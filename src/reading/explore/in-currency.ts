/**
 * Converts an answer by UTC day into another currency: each day's dollars by the rate of that day. Totals are the sums of the converted days. The
 * books stay in US dollars.
 */
import { EVENT_REVENUES, MONEY_MEASURES } from '../../contract/explore-measures.ts'
import { fromUnits, toUnits } from '../../contract/decimals.ts'
import type { Context } from '../../ground/room.ts'
import { inCurrency } from '../../money/rates/exact.ts'
import { sourceOrder, readRates, unknownRate } from '../../money/rates/rate-of-day.ts'
import type * as api from './api.ts'
import { wireKeyOf } from './columns.ts'
import type { FoundLevels } from './levels.ts'
import { ROOT } from './scan.ts'
import { placesOf, type Sums } from './sums.ts'

/** The sums of money. */
const NAMES = [...MONEY_MEASURES.filter(name => name !== 'profit'), ...EVENT_REVENUES]
type MoneySum = (typeof NAMES)[number]

/** The sums with their money replaced. */
const withMoney = (sums: Sums, of: (name: MoneySum) => bigint): Sums => ({
  ...sums,
  ...Object.fromEntries(NAMES.flatMap(name => (sums[name] === undefined ? [] : [[name, of(name)]]))),
})

/** An answer by day in a currency. Refuses `rate_unknown` where a day that has money has no rate. */
export async function foundInCurrency<F extends FoundLevels>(
  { database, config, actor }: Pick<Context<typeof api.explore>, 'database' | 'config' | 'actor'>,
  found: F,
  currency: string,
): Promise<F> {
  const days = found.levels[0]?.groups.get(ROOT) ?? []
  const placeOf = ({ value }: (typeof days)[number]) => ({ currency, day: wireKeyOf('day', value) ?? '' })
  const rateOf = await readRates({ pool: database.reads, order: sourceOrder(config) }, actor.org_id, days.map(placeOf))
  const groups = days.map(group => ({
    ...group,
    sums: withMoney(group.sums, name => {
      const units = group.sums[name]
      if (units === 0n) return 0n
      const rate = rateOf(placeOf(group))?.usd_per_unit
      if (rate === undefined) throw unknownRate(placeOf(group))
      return toUnits(inCurrency(fromUnits(units, placesOf(name)), rate), placesOf(name))
    }),
  }))
  const sums = withMoney(found.totals.sums, name => groups.reduce((all, group) => all + group.sums[name], 0n))
  const levels = found.levels.map(level => ({ ...level, groups: new Map([[ROOT, groups]]) }))
  return { ...found, totals: { ...found.totals, sums }, levels }
}
