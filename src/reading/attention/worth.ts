/** The spend and revenue per day of the campaigns or the offer that a cause affects, from the report. */
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { fromUnits, toUnits } from '../../contract/decimals.ts'
import { toWireId } from '../../contract/ids.ts'
import type { Ground } from '../../ground/room.ts'
import { moneyReport } from '../reports/report.ts'
import type { ReportRow } from '../reports/api.ts'
import type { AttentionLine } from './api.ts'
import type { Cause } from './causes.ts'

type PerDay = Pick<AttentionLine, 'spend_per_day' | 'revenue_per_day'>

const DAYS = 7n
const UNKNOWN: PerDay = { spend_per_day: null, revenue_per_day: null }

/**
 * Reads for all causes the average of the seven UTC days before the one of `now`. Only the report's 500 campaigns or offers with most clicks are known.
 * Reads nothing where no cause names any.
 */
export async function readWorth(
  ground: Pick<Ground, 'database'>,
  org_id: number,
  causes: readonly Cause[],
  now: number,
): Promise<(cause: Cause) => PerDay> {
  const today = Date.parse(dayOf(now))
  const window = { from: today - Number(DAYS) * DAY_MS, to: today - 1 }
  const rowsBy = async (dimension: 'campaign' | 'offer', isAsked: boolean) => {
    if (!isAsked) return new Map<string, ReportRow>()
    const { rows } = await moneyReport(ground, org_id, { dimension, window, campaigns: null })
    return new Map(rows.map(row => [row.key, row]))
  }
  const [campaigns, offers] = await Promise.all([
    rowsBy(
      'campaign',
      causes.some(({ campaigns: behind }) => behind !== null && behind.length > 0),
    ),
    rowsBy(
      'offer',
      causes.some(({ object }) => object === 'offer'),
    ),
  ])
  return ({ object, id, campaigns: behind }) => {
    if (object === 'offer') return perDay(rowsOf(offers, id === null ? [] : [id]))
    return perDay(rowsOf(campaigns, behind ?? []))
  }
}

const rowsOf = (rows: ReadonlyMap<string, ReportRow>, ids: readonly string[]): ReportRow[] =>
  ids.flatMap(id => rows.get(toWireId(id)) ?? [])

/** The spend of an offer is null, because the report has no cost by offer. */
function perDay(rows: readonly ReportRow[]): PerDay {
  if (rows.length === 0) return UNKNOWN
  const known = rows.flatMap(({ cost, cost_source }) => (cost_source == null || cost === undefined ? [] : [cost]))
  return {
    spend_per_day: known.length === 0 ? null : average(known),
    revenue_per_day: average(rows.map(({ revenue }) => revenue)),
  }
}

/** The average amount per day, with two decimals. */
function average(amounts: readonly string[]): string {
  const cents = amounts.reduce((sum, amount) => sum + toUnits(amount, 2), 0n)
  const [whole, fraction = ''] = fromUnits((cents + DAYS / 2n) / DAYS, 2).split('.')
  return `${whole}.${fraction.padEnd(2, '0')}`
}
