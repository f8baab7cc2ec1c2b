/** The figures that rules judge by: those of Explore, so that a figure means the same here as in the report. */
import type { ExploreAnswer, ExploreRow } from '../../contract/explore-answer.ts'
import type { ExploreFilter, ExploreHaving, ExploreQuestion } from '../../contract/explore.ts'
import { toUuid, toWireId } from '../../contract/ids.ts'
import { type Condition, RULE_FIGURES, type RuleField } from '../../contract/rules.ts'
import { isUnreplaced } from '../../contract/unreplaced.ts'
import type { Window } from '../../contract/window.ts'
import type { Furnished, Ground } from '../../ground/room.ts'
import type { RuleFigures } from './api.ts'
import { comparesWithPayout, type PaidClicks, type Payouts, readPayouts } from './payouts.ts'
import type { Definition } from './stored.ts'

/** A campaign, or a value of a field within it, with its figures. `campaign_id` is a uuid; `value` is as in the report. */
export type JudgedObject = {
  readonly campaign_id: string
  readonly field: RuleField | null
  readonly value: string | null
  /** The name of the object that the value stands for, else the value. */
  readonly label?: string
  readonly figures: RuleFigures
}

type Found = { readonly objects: readonly JudgedObject[]; readonly isComplete: boolean }

/** Campaigns are uuids. `values`: only these values. */
export type Asked = Pick<Definition, 'value_of' | 'when'> & {
  readonly at_least?: Definition['at_least']
  readonly campaigns: readonly string[]
  readonly values?: readonly string[]
  readonly window: Window
  readonly zone: string
}

/** The workspace, and the endpoint that answers questions. */
export type RuleAsking = { readonly ground: Ground; readonly org_id: number; readonly explore: Furnished }

/** The most campaigns, and values, that a filter names. */
const MOST_NAMED = 200
const MOST_ROWS = 1000

/** The key that tells objects apart. */
export const keyOfObject = ({ campaign_id, field, value }: Omit<JudgedObject, 'figures'>): string =>
  JSON.stringify([campaign_id, field ?? '', value ?? ''])

/** The objects that fulfil all conditions and have at least so much. Refuses what Explore refuses. */
export async function judgeObjects(asking: RuleAsking, asked: Asked): Promise<Found> {
  const payouts = asked.when.some(isOfPayout) ? await readPayouts(asking.ground, asking.org_id) : undefined
  const found: Found[] = []
  for (const campaigns of chunks(asked.campaigns, MOST_NAMED))
    for (const values of asked.values === undefined ? [undefined] : chunks(asked.values, MOST_NAMED))
      found.push(await judgeSome(asking, { ...asked, campaigns, ...(values && { values }) }, payouts))
  return together(found)
}

const together = (found: readonly Found[]): Found => ({
  objects: found.flatMap(({ objects }) => objects),
  isComplete: found.every(({ isComplete }) => isComplete),
})

const chunks = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size))

const isOfPayout = (condition: Condition): condition is Extract<Condition, { times_payout: number }> =>
  'times_payout' in condition

/** Asks again for fewer campaigns if the answer had no place for all rows. */
async function judgeSome(asking: RuleAsking, asked: Asked, payouts: Payouts | undefined): Promise<Found> {
  const answer = await ask(asking, questionOf(asked, payouts !== undefined))
  const { campaigns, value_of } = asked
  if (campaigns.length > 1 && isCut(answer.rows, value_of !== null)) {
    const half = Math.ceil(campaigns.length / 2)
    const halves = [campaigns.slice(0, half), campaigns.slice(half)]
    return together([
      await judgeSome(asking, { ...asked, campaigns: halves[0] ?? [] }, payouts),
      await judgeSome(asking, { ...asked, campaigns: halves[1] ?? [] }, payouts),
    ])
  }
  return { objects: objectsOf(answer.rows, asked, payouts), isComplete: answer.incomplete_days.length === 0 }
}

const isCut = (rows: readonly ExploreRow[], hasValues: boolean): boolean =>
  rows.some(({ is_other, children }) => is_other || (hasValues && (children?.some(row => row.is_other) ?? true)))

async function ask({ ground, org_id, explore }: RuleAsking, body: ExploreQuestion): Promise<ExploreAnswer> {
  const deed = explore.deed as unknown as (context: object, call: object) => Promise<ExploreAnswer>
  return await deed({ ...ground, actor: { org_id } }, { params: {}, query: undefined, body })
}

const SIGNS = { above: 'gt', below: 'lt' } as const

function questionOf(
  { campaigns, value_of, values, when, at_least, window, zone }: Asked,
  byOffer: boolean,
): ExploreQuestion {
  const having: ExploreHaving[] = [
    ...when.flatMap(condition =>
      isOfPayout(condition)
        ? []
        : [{ measure: condition.figure, op: SIGNS[condition.is], value: condition.value } as const],
    ),
    ...(at_least?.clicks === undefined
      ? []
      : [{ measure: 'clicks', op: 'gte', value: String(at_least.clicks) } as const]),
    ...(at_least?.cost === undefined ? [] : [{ measure: 'cost', op: 'gte', value: at_least.cost } as const]),
  ]
  const filters: ExploreFilter[] = [
    { dimension: 'campaign', op: 'in', values: campaigns.map(toWireId) },
    ...(value_of === null || values === undefined
      ? []
      : [{ dimension: value_of, op: 'in' as const, values: [...values] }]),
  ]
  const judged = { top: MOST_ROWS, having }
  const levels: ExploreQuestion['levels'] =
    value_of === null
      ? [{ dimension: 'campaign', ...judged }]
      : [
          { dimension: 'campaign', top: MOST_ROWS },
          { dimension: value_of, ...judged },
        ]
  if (byOffer && value_of !== 'offer') levels.push({ dimension: 'offer', top: 50 })
  return {
    date_from: new Date(window.from).toISOString(),
    date_to: new Date(window.to).toISOString(),
    time_zone: zone,
    levels,
    filters,
    measures: [...RULE_FIGURES],
  }
}

/** The rows that stand for campaigns or filled values. */
function objectsOf(rows: readonly ExploreRow[], asked: Asked, payouts: Payouts | undefined): JudgedObject[] {
  const isMet = (row: ExploreRow): boolean =>
    payouts === undefined ||
    asked.when
      .filter(isOfPayout)
      .every(condition => comparesWithPayout(row.cost ?? '0', condition, paidClicksOf(row, asked.value_of, payouts)))
  return rows.flatMap(campaign => {
    const campaign_id = toUuid(campaign.key ?? '')
    if (campaign.is_other || campaign_id === undefined) return []
    if (asked.value_of === null)
      return isMet(campaign) ? [{ campaign_id, field: null, value: null, figures: figuresOf(campaign) }] : []
    const field = asked.value_of
    return (campaign.children ?? []).flatMap((row): JudgedObject[] =>
      row.is_other || !isFilled(row.key) || !isMet(row)
        ? []
        : [{ campaign_id, field, value: row.key, label: row.label, figures: figuresOf(row) }],
    )
  })
}

/** Whether a value came filled: not empty, and not a macro that the source did not replace. */
export const isFilled = (value: string | null): value is string =>
  value !== null && value !== '' && !isUnreplaced(value)

function paidClicksOf(row: ExploreRow, value_of: Definition['value_of'], payouts: Payouts): PaidClicks {
  const offers = value_of === 'offer' ? [row] : (row.children ?? []).filter(({ is_other }) => !is_other)
  let [clicks, sum] = [0n, 0n]
  for (const offer of offers) {
    const payout = payouts.get(toUuid(offer.key ?? '') ?? '')
    if (payout === undefined) continue
    const number = BigInt(offer.clicks ?? 0)
    clicks += number
    sum += number * payout
  }
  return { clicks, payouts: sum }
}

/** The figures of a row in the form of the API. */
export const figuresOf = ({
  clicks = 0,
  conversions = 0,
  revenue = '0.00',
  ...row
}: Partial<ExploreRow>): RuleFigures => ({
  clicks,
  conversions,
  cost: row.cost ?? null,
  revenue,
  profit: row.profit ?? null,
  roi: row.roi ?? null,
  cpa: row.cpa ?? null,
  cr: row.cr ?? null,
  epc: row.epc ?? null,
  approval_rate: row.approval_rate ?? null,
})

/** The clicks of campaigns and of their values on a day, for the stop line, by the key of the object. */
export async function clicksOf(
  asking: RuleAsking,
  asked: Omit<Asked, 'when' | 'at_least'>,
): Promise<Map<string, number>> {
  const { objects } = await judgeObjects(asking, { ...asked, when: [] })
  return new Map(objects.map(object => [keyOfObject(object), object.figures.clicks]))
}
