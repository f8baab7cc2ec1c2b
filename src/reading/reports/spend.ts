/**
 * The SQL of a report's cost, by precedence: entered spend, spread amounts, the spend of ad accounts, the clicks' own cost. A row replaces all spend of
 * lower precedence in the cells (UTC day, campaign, sub1) that it covers: a row without a sub1 covers the campaign's whole day, any other row its cell.
 * Rows of equal precedence add up. Nothing is rewritten, so deleting a row restores what it replaced. A cell is always replaced as a whole, even if the
 * window contains only part of its day. For such a day a key's report counts whole amounts, and a member's report the share of the clicks within the
 * window, as in Explore. `recount.ts` computes the same from plain rows.
 */
import { DAY_MS, MINUTE_MS, dayOf } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import type { ReportDimension } from './api.ts'
import { type Cover, type DayRange, isAny, type Stretch } from './cover.ts'
import { UNITS, WEEK } from './units.ts'
import type { ReportQuestion } from './question.ts'
import type { Put } from './sources.ts'

/** The dimensions that have a cost: spend is booked by campaign, sub1 and day. */
export type CostDimension = Exclude<ReportDimension, 'geo' | 'offer'>

/** Whether a dimension has a cost. */
export function hasCost(dimension: ReportDimension): dimension is CostDimension {
  return dimension !== 'geo' && dimension !== 'offer'
}

/** Over rows with a `cost_source`: the one they share, else `mixed`. */
export const SOURCE = `case when min(cost_source) = max(cost_source) then min(cost_source)
        when count(cost_source) > 0 then 'mixed' end`

/** The column that rows of spend and cells of clicks are summed by. */
const COLUMNS: Record<CostDimension, string> = { campaign: 'campaign_id', sub1: 'sub1', day: 'day' }

/** A day as a number. The index `report_day_cell` uses it to keep the days of a cell adjacent. Day 0 was a Monday. */
const NUMBER = `day - date '0001-01-01'`

/** The days in one bit mask, a bit each: a week, because sums of whole weeks are stored, or as many as fit into a `bigint`. */
const spanOf = (dimension: CostDimension) => (dimension === 'day' ? 63 : 7)

/** The key of spend by sub1. A spread's amount without a sub1 belongs to the clicks without one; other spend without a sub1 gets no key. */
const APART = `case when source = 'spread' then sub1 else nullif(sub1, '') end`

const IS_SPREAD = `origin like 'spread:%'`

/** `byShare`: where the window cuts a UTC day, amounts count with the share of the clicks within it, as in Explore; else they count whole. */
type CostQuestion = Pick<ReportQuestion, 'window' | 'campaigns'> & {
  readonly dimension: CostDimension
  readonly cover: Cover
  readonly byShare: boolean
}

/** The days whose spend counts: those of which the window covers more than the first millisecond. */
export function spentDays({ from, to }: ReportQuestion['window']): [first: string, last: string] {
  return [dayOf(from), dayOf(to % DAY_MS === 0 ? to - 1 : to)]
}

/**
 * The parts of a `with` after `grouped`, the counters by key. The last part is `spent`, with `key`, `cost` and `cost_source`. With `isApart`, spend
 * without a sub1 has the key null, which no clicks have.
 */
export function spentOf(
  { dimension, window, campaigns, cover, byShare }: CostQuestion,
  isApart: boolean,
  put: Put,
): string {
  const [first, last] = spentDays(window).map(day => `${put(day)}::date`)
  const cut = byShare ? cutDays(window) : []
  const within = campaigns === null ? '' : ` and campaign_id = any(${put(campaigns)}::uuid[])`
  const booked = `day between ${first} and ${last}${within}`
  const column = COLUMNS[dimension]
  const span = spanOf(dimension)
  return `entered as materialized (
    select campaign_id, sub1, (${NUMBER}) / ${span} as span, source, bit_or(1::bigint << (${NUMBER}) % ${span}) as days, sum(amount) as amount
    from ad_spend where org_id = $1 and ${booked} group by campaign_id, sub1, span, source
  ), ${cut.length === 0 ? '' : `${clicksOfCut(cut, cover, within, put)}, `}counting as (
    ${
      cut.length === 0
        ? `${dimension === 'day' ? `select day, amount, source from ad_spend where org_id = $1 and ${booked}` : `select ${column}, amount, source from entered`}
    union all
    ${uncoveredOf(column, booked)}`
        : sharedOf(column, { booked, cut, window }, put)
    }
  ), unfolded as materialized (
    ${unfoldedOf(cover, within, put)}
  ), costing as materialized (
    select 1 from report_day
    where org_id = $1 and dimension = ${UNITS.campaign + WEEK} and day between ${first} - 6 and ${last}${within} and cost <> 0
    union all select 1 from unfolded limit 1
  ), covering as materialized (
    select campaign_id, sub1, span, bit_or(days) as days from (
      select campaign_id, sub1, span, days from entered
      union all
      select campaign_id, sub1, (${NUMBER}) / ${span}, 1::bigint << (${NUMBER}) % ${span} from booked_spend where org_id = $1 and ${booked}
    ) cells where exists (select from costing) group by campaign_id, sub1, span
  ), replacing as materialized (
    select c.campaign_id, c.sub1, c.span, c.days & ~coalesce(w.days, 0) as days from covering c
      left join covering w on c.sub1 <> '' and w.sub1 = '' and w.campaign_id = c.campaign_id and w.span = c.span
  ), replaced as (
    select ${column}::text as key, sum(cost) as cost from (
      ${replacedOf(dimension, cover, put)}
    ) parts group by ${column}
  ), of_clicks as (
    select key, sum(cost) as cost from (
      select key, cost from grouped where cost <> 0 union all select key, -cost from replaced
    ) own group by key having sum(cost) <> 0
  ), spent as (
    select key, sum(cost) as cost, ${SOURCE} as cost_source from (
      select ${isApart ? APART : `${column}::text`} as key, sum(amount) as cost, source as cost_source from counting group by ${column}, source
      union all
      select key, cost, 'link' from of_clicks
    ) sources group by key
  )`
}

/** The UTC days that are only partly in the window. */
const cutDays = ({ from, to }: ReportQuestion['window']): string[] => [
  ...new Set([...(from % DAY_MS === 0 ? [] : [dayOf(from)]), ...((to + 1) % DAY_MS === 0 ? [] : [dayOf(to)])]),
]

/** Parts of a `with`: for the cut days, the clicks of each cell (all of them, and those within the window), and the same for each campaign and day. */
function clicksOfCut(cut: readonly string[], { days, ends }: Cover, within: string, put: Put): string {
  const ofCutDays = `day = any(${put(cut)}::date[])${within}`
  const inside = !isAny(days) ? '0' : `case when ${betweenOf(days, put)} then clicks else 0 end`
  const sources = [
    `select day, campaign_id, key as sub1, clicks as of_day, ${inside} as inside from report_day
      where org_id = $1 and dimension = ${UNITS.sub1} and ${ofCutDays}`,
    `select day, campaign_id, sub1, clicks, ${inside} from report_delta where org_id = $1 and ${ofCutDays}`,
    ...ends.map(
      ({ sign, from, to }) => `select ${put(dayOf(from))}::date, campaign_id, coalesce(sub1, ''), 0, ${sign} * count(*)
        from clicks where org_id = $1 and id >= ${put(firstIdAt(from))}::uuid and id < ${put(firstIdAt(to + 1))}::uuid
          and tracked${within} group by 2, 3`,
    ),
  ]
  return `cut_cells as materialized (
    select day, campaign_id, sub1, sum(of_day) as of_day, sum(inside) as inside from (
      ${sources.join('\n      union all ')}
    ) parts group by day, campaign_id, sub1
  ), cut_campaigns as materialized (
    select day, campaign_id, sum(of_day) as of_day, sum(inside) as inside from cut_cells group by day, campaign_id
  )`
}

/**
 * The amounts that count. On a cut day an amount counts with the share of the clicks within the window; one without clicks counts where the window
 * contains noon of its day. The current day is whole in a window that reaches to the present.
 */
function sharedOf(
  column: string,
  { booked, cut, window }: { booked: string; cut: readonly string[]; window: ReportQuestion['window'] },
  put: Put,
): string {
  const now = Date.now()
  const isHeld = (day: string) => {
    const noon = Date.parse(day) + DAY_MS / 2
    return noon >= window.from && (noon <= window.to || (dayOf(now) === day && window.to > now - MINUTE_MS))
  }
  const held = put(cut.filter(isHeld))
  const all = `select day, campaign_id, sub1, amount, source from ad_spend where org_id = $1 and ${booked}
    union all
    ${uncoveredOf('day, campaign_id, sub1', booked)}`
  return `select ${column}, part as amount, source from (
      select a.day, a.campaign_id, a.sub1, a.source, case when not a.day = any(${put(cut)}::date[]) then a.amount
        when a.sub1 = '' and a.source <> 'spread' then ${shareOf('g', held)} else ${shareOf('c', held)} end as part
      from (${all}) a
      left join cut_campaigns g on g.day = a.day and g.campaign_id = a.campaign_id
      left join cut_cells c on c.day = a.day and c.campaign_id = a.campaign_id and c.sub1 = a.sub1
    ) shared where part is not null`
}
const shareOf = (clicks: string, held: string) =>
  `case when ${clicks}.of_day > 0 then case when ${clicks}.inside > 0 then a.amount * ${clicks}.inside / ${clicks}.of_day end when a.day = any(${held}::date[]) then a.amount end`

/** The rows of booked spend that no row of higher precedence covers. */
function uncoveredOf(column: string, booked: string): string {
  const entered = `(select day, campaign_id, sub1 from ad_spend where org_id = $1 and ${booked})`
  const spread = `(select day, campaign_id, sub1 from booked_spend where org_id = $1 and ${booked} and ${IS_SPREAD})`
  return `select ${column}, amount, split_part(origin, ':', 1) as source from booked_spend e
    where org_id = $1 and ${booked} and amount <> 0 and not ${isCovered('e', entered)} and (${IS_SPREAD} or not ${isCovered('e', spread)})`
}

/**
 * The condition that rows cover a cell: the campaign's whole day, or the cell itself. The `or` keeps the planner from using joins, so each cell is
 * looked up in a hash or an index, which is fast even where the planner misjudges the number of cells.
 */
function isCovered(cell: string, by: string): string {
  const isThere = (sub1: string) =>
    `exists (select from ${by} h where h.day = ${cell}.day and h.campaign_id = ${cell}.campaign_id and h.sub1 = ${sub1})`
  return `(${isThere(`''`)} or ${isThere(`${cell}.sub1`)})`
}

/** The clicks' own cost by cell, for changes that are not folded yet and for the ends of the window. */
function unfoldedOf({ days, ends }: Cover, within: string, put: Put): string {
  const ofEnd = ({ sign, from, to }: Stretch) => {
    const cost = `${sign < 0 ? '-' : ''}sum(cost) as cost`
    return `select ${put(dayOf(from))}::date as day, campaign_id, coalesce(sub1, '') as sub1, ${cost}
      from clicks where org_id = $1 and id >= ${put(firstIdAt(from))}::uuid and id < ${put(firstIdAt(to + 1))}::uuid
        and tracked and cost_counts and cost <> 0${within} group by 2, 3`
  }
  const sources = ends.map(ofEnd)
  if (isAny(days))
    sources.push(`select day, campaign_id, sub1, sum(cost) as cost from report_delta
      where org_id = $1 and cost <> 0 and ${betweenOf(days, put)}${within} group by day, campaign_id, sub1`)
  return sources.join('\n    union all ')
}

/**
 * The own cost of the clicks of replaced cells within the window, from the same sources as all counters. Many days of a cell are looked up at once,
 * because searches take most of a report's time. A cell without a sub1 is its campaign's whole day. Campaign and sub1 are compared with arrays,
 * because the planner would turn joins by equality into a scan of all cells of the organization.
 */
function replacedOf(dimension: CostDimension, { days }: Cover, put: Put): string {
  const span = spanOf(dimension)
  const bitOf = (row: string) => `${row}.days >> (d.${NUMBER}) % ${span} & 1 = 1`
  const unfolded = `select d.day, d.campaign_id, d.sub1, d.cost from unfolded d
      left join replacing w on w.sub1 = '' and w.campaign_id = d.campaign_id and w.span = (d.${NUMBER}) / ${span}
      left join replacing r on d.sub1 <> '' and r.sub1 = d.sub1 and r.campaign_id = d.campaign_id and r.span = (d.${NUMBER}) / ${span}
      where ${bitOf('w')} or ${bitOf('r')}`
  if (!isAny(days)) return unfolded
  const isWeek =
    dimension === 'day'
      ? 'false'
      : `r.days = 127 and date '0001-01-01' + r.span * 7 between ${dayAt(days.first, put)} and ${dayAt(days.last - 6, put)}`
  const counted = (
    where: string,
    unit: number,
    join: string,
  ) => `select d.day, d.campaign_id, d.key as sub1, d.cost from replacing r
      join report_day d on d.org_id = $1 and d.dimension = ${unit} and d.${betweenOf(days, put)} and d.campaign_id = any(array[r.campaign_id]) and ${join}
      where ${where}`
  const ofCampaign = dimension === 'sub1' ? UNITS.sub1 : UNITS.campaign
  const start = `date '0001-01-01' + r.span * ${span}`
  return [
    unfolded,
    counted(`r.sub1 = '' and ${isWeek}`, ofCampaign + WEEK, `d.day = ${start}`),
    counted(
      `r.sub1 = '' and not (${isWeek})`,
      ofCampaign,
      `d.day between ${start} and ${start} + ${span - 1} and ${bitOf('r')}`,
    ),
    counted(
      `r.sub1 <> '' and ${isWeek}`,
      UNITS.sub1 + WEEK,
      `d.key = any(array[r.sub1]) and d.${NUMBER} = any(array[r.span * 7])`,
    ),
    counted(
      `r.sub1 <> '' and not (${isWeek})`,
      UNITS.sub1,
      `d.key = any(array[r.sub1]) and d.${NUMBER} between r.span * ${span} and r.span * ${span} + ${span - 1} and ${bitOf('r')}`,
    ),
  ].join('\n      union all\n      ')
}

const dayAt = (day: number, put: Put) => `${put(dayOf(day * DAY_MS))}::date`

const betweenOf = ({ first, last }: DayRange, put: Put) => `day between ${dayAt(first, put)} and ${dayAt(last, put)}`
