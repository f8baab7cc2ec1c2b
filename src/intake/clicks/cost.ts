// The cost of a click, decided at the redirect, so that a replay after an outage stores the same cost. Anyone can write a price into a
// link, so it is limited, counts only with a click that counts, and is overridden by entered spend.
import { dayOf } from '../../contract/days.ts'
import { fromUnits, toUnits } from '../../contract/decimals.ts'
import type { StoredCost } from '../../traffic/campaigns/cost.ts'
import type { LiveCampaign, LiveTrafficSource } from '../../traffic/campaigns/live.ts'
import type { Click } from './click.ts'
import type { Parameters } from './parameters.ts'
import type { UsdPerUnit } from './rate.ts'

type ClickCost = Pick<Click, 'cost' | 'cost_original' | 'cost_currency'>
/** Returns the cost of a click with these parameters at this time. */
export type CostReader = (parameters: Parameters, ms: number, usdPerUnit: UsdPerUnit) => ClickCost

/** The unit and currency of the costs in a source's links. */
type CostUnit = Pick<LiveTrafficSource, 'cost_unit' | 'cost_currency'>

const COST = /^\d{1,7}(\.\d{1,9})?$/
const CURRENCY = /^[a-z]{3}$/i
const PLACES = 9
/** A thousandth of an amount has three decimals more. */
const FINE_PLACES = 12
const RATE_PLACES = 20

/** Returns the reader of a campaign's costs; undefined if it has no cost model. */
export function costReader(
  { org_id, cost: model }: Pick<LiveCampaign, 'org_id' | 'cost'>,
  source: CostUnit | undefined,
): CostReader | undefined {
  if (model === null) return undefined
  if (model.model === 'link') return linkReader(org_id, model, source)
  // A thousandth has three decimals more than the six of an amount.
  const cost = fromUnits(toUnits(model.amount ?? '0', 6) * (model.model === 'cpm' ? 1n : 1000n), PLACES)
  const fixed = { cost, cost_original: cost, cost_currency: model.currency }
  return () => fixed
}

/** The cost is null if it is not a plain decimal, is above the maximum, or no rate of its currency is known. */
function linkReader(org_id: number, { currency, max }: StoredCost, source: CostUnit | undefined): CostReader {
  const most = toUnits(max ?? '0', PLACES)
  const usual = source?.cost_currency ?? currency
  const isOfThousand = source?.cost_unit === 'cpm'
  return ({ cost, currency: sent }, ms, usdPerUnit) => {
    if (cost == null || !COST.test(cost)) return { cost: null, cost_original: null, cost_currency: usual }
    const cost_currency = sent != null && CURRENCY.test(sent) ? sent.toUpperCase() : usual
    const fine = toUnits(cost, PLACES) * (isOfThousand ? 1n : 1000n)
    const rate = usdPerUnit(org_id, cost_currency, dayOf(ms))
    const usd = rate === undefined ? undefined : rounded(fine * toUnits(rate, RATE_PLACES), FINE_PLACES + RATE_PLACES)
    return {
      cost: usd === undefined || usd > most ? null : fromUnits(usd, PLACES),
      cost_original: fromUnits(rounded(fine, FINE_PLACES), PLACES),
      cost_currency,
    }
  }
}

/** Rounds half up to the decimals that are stored. */
function rounded(units: bigint, places: number): bigint {
  const step = 10n ** BigInt(places - PLACES)
  return (units + step / 2n) / step
}
