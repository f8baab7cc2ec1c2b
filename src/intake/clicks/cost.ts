// What a click costs, decided while it is redirected, so that a replay after an outage says the same. Anybody may write a price into a
// link: it is bounded, counts only with a click that counts, and gives way to entered spend.
import { dayOf } from '../../contract/days.ts'
import { fromUnits, toUnits } from '../../contract/decimals.ts'
import type { StoredCost } from '../../traffic/campaigns/cost.ts'
import type { LiveCampaign, LiveTrafficSource } from '../../traffic/campaigns/live.ts'
import type { Click } from './click.ts'
import type { Parameters } from './parameters.ts'
import type { UsdPerUnit } from './rate.ts'

type ClickCost = Pick<Click, 'cost' | 'cost_original' | 'cost_currency'>
/** Says what a click of that millisecond costs whose query was read. */
export type CostReader = (parameters: Parameters, ms: number, usdPerUnit: UsdPerUnit) => ClickCost

/** What a source says of the amounts in its links. */
type Unit = Pick<LiveTrafficSource, 'cost_unit' | 'cost_currency'>

const COST = /^\d{1,7}(\.\d{1,9})?$/
const CURRENCY = /^[a-z]{3}$/i
const PLACES = 9
/** A thousandth has three decimals more. */
const FINE_PLACES = 12
const RATE_PLACES = 20

/** Reads the costs of a campaign's clicks; undefined where it has no cost model. */
export function costReader(
  { org_id, cost: model }: Pick<LiveCampaign, 'org_id' | 'cost'>,
  source: Unit | undefined,
): CostReader | undefined {
  if (model === null) return undefined
  if (model.model === 'link') return linkReader(org_id, model, source)
  // A thousandth has three decimals more than the six of an amount.
  const cost = fromUnits(toUnits(model.amount ?? '0', 6) * (model.model === 'cpm' ? 1n : 1000n), PLACES)
  const fixed = { cost, cost_original: cost, cost_currency: model.currency }
  return () => fixed
}

/** Unread is what is no plain decimal, more than the bound, or in a currency that no rate is known of. */
function linkReader(org_id: number, { currency, max }: StoredCost, source: Unit | undefined): CostReader {
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

/** Half up, to as many decimals as are kept. */
function rounded(units: bigint, places: number): bigint {
  const step = 10n ** BigInt(places - PLACES)
  return (units + step / 2n) / step
}
