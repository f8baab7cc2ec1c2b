/**
 * The SQL of a report's cost, by rank: what was entered, what was spread over clicks, what ad accounts say, what the clicks have cost
 * themselves. A row takes the place of all of lower rank in what it covers: without a sub1 the campaign's whole day, else that cell (UTC day,
 * campaign, sub1). Rows of one rank add up. Nothing is rewritten: where a row is deleted, what it covered is back. A cell is replaced whole, also
 * where the window cuts its day, because spend counts by day. `recount.ts` says the same of plain rows.
 */
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import type { Dimension } from './api.ts'
import type { Cover, Stretch } from './cover.ts'
import { UNITS, WEEK } from './units.ts'
import type { Question } from './question.ts'
import type { Put } from './sources.ts'

/** The dimensions that have a cost: spend is known by campaign, sub1 and day, not by country or offer. */
export type Spending = Exclude<Dimension, 'geo' | 'offer'>

/** Spend is known by campaign, sub1 and day, not by country or offer. */
export function isSpending(dimension: Dimension): dimension is Spending {
  return dimension !== 'geo' && dimension !== 'offer'
}

/** Of rows with a `cost_source`: the one they share, else that they are mixed. */
export const SOURCE = `case when min(cost_source) = max(cost_source) then min(cost_source)
        when count(cost_source) > 0 then 'mixed' end`

const ENTERED_KEYS: Record<Spending, string> = { campaign: 'campaign_id::text', sub1: 'sub1', day: 'day::text' }

/** What was spread over the clicks without a sub1 is theirs; other spend without one is of nobody in particular. */
const APART = `case when source = 'spread' then sub1 else nullif(sub1, '') end`

/** What was entered cell by cell is of the first rank, and what clicks have cost of the last. */
const RANK = `case when origin like 'spread:%' then 2 else 3 end`

/** Nothing of higher rank covers the row. Asked for each way of covering, so that each is a join by equality. */
const isFree = (sub1: string) =>
  `not exists (select from entered h where h.rank < e.rank and h.day = e.day and h.campaign_id = e.campaign_id and h.sub1 = ${sub1})`

type Asked = Pick<Question, 'window' | 'campaigns'> & { readonly dimension: Spending; readonly cover: Cover }

/** The days whose spend counts: a day does when the window covers more than its first millisecond. */
export function spentDays({ from, to }: Question['window']): [first: string, last: string] {
  return [dayOf(from), dayOf(to % DAY_MS === 0 ? to - 1 : to)]
}

/**
 * Parts of a `with`; `linked` keeps spend of campaigns whose clicks cost nothing from being looked up cell by cell. The last of them `spent`: `key`, `cost` and `cost_source`. They stand behind `grouped`, the counters by key. Where
 * `isApart`, spend without a sub1 has the key null, which no clicks have.
 */
export function spentOf({ dimension, window, campaigns, cover }: Asked, isApart: boolean, put: Put): string {
  const [first, last] = spentDays(window)
  const within = campaigns === null ? '' : `and campaign_id = any(${put(campaigns)}::uuid[])`
  const booked = `day between ${put(first)}::date and ${put(last)}::date ${within}`
  const key = isApart ? APART : ENTERED_KEYS[dimension]
  return `entered as materialized (
    select 1 as rank, day, campaign_id, sub1, amount, source from ad_spend where org_id = $1 and ${booked}
    union all
    select ${RANK}, day, campaign_id, sub1, amount, split_part(origin, ':', 1) from booked_spend where org_id = $1 and ${booked}
  ), counting as (
    select day, campaign_id, sub1, amount, source from entered where rank = 1
    union all
    select day, campaign_id, sub1, amount, source from entered e
    where rank > 1 and amount <> 0 and ${isFree(`''`)} and ${isFree('e.sub1')}
  ), whole_days as (
    select distinct day, campaign_id from entered where sub1 = '' and (select sum(cost) from grouped) > 0
  ), single_cells as (
    select distinct day, campaign_id, sub1 from entered e where sub1 <> '' and (select sum(cost) from grouped) > 0
      and not exists (select from whole_days w where w.day = e.day and w.campaign_id = e.campaign_id)
  ), linked as (
    select distinct campaign_id from report_day
    where org_id = $1 and dimension = ${UNITS.campaign + WEEK} and day between ${put(first)}::date - 6 and ${put(last)}::date ${within} and cost <> 0
  ), replaced as (
    ${replacedOf(dimension, cover, put)}
  ), of_clicks as (
    select key, sum(cost) as cost from (
      select key, cost from grouped where cost <> 0 union all select key, -cost from replaced
    ) own group by key having sum(cost) <> 0
  ), spent as (
    select key, sum(cost) as cost, ${SOURCE} as cost_source from (
      select ${key} as key, amount as cost, source as cost_source from counting
      union all
      select key, cost, 'link' from of_clicks
    ) sources group by key
  )`
}

/** What the clicks of replaced cells have cost within the window: from the same places as all counters. */
function replacedOf(dimension: Spending, { days, ends }: Cover, put: Put): string {
  const sources: string[] = []
  const keyOf = (of: { sub1: string; row: string }) =>
    ({ campaign: `${of.row}.campaign_id::text`, day: `${of.row}.day::text`, sub1: of.sub1 })[dimension]
  if (days.first <= days.last) {
    const between = (column: string) =>
      `${column} between ${put(dayOf(days.first * DAY_MS))}::date and ${put(dayOf(days.last * DAY_MS))}::date`
    const counted = (cells: string, unit: number) =>
      `select ${keyOf({ row: 'r', sub1: 'd.key' })} as key, d.cost from ${cells} r
        join report_day d on d.org_id = $1 and d.dimension = ${unit} and d.day = r.day and d.campaign_id = r.campaign_id
        where ${between('r.day')} and r.campaign_id in (select campaign_id from linked)`
    sources.push(
      counted('whole_days', dimension === 'sub1' ? UNITS.sub1 : UNITS.campaign),
      `${counted('single_cells', UNITS.sub1)} and d.key = r.sub1`,
      `select ${keyOf({ row: 'c', sub1: 'c.sub1' })}, c.cost from report_delta c
        where c.org_id = $1 and c.cost <> 0 and ${between('c.day')} and ${isReplaced('c.day', 'c.campaign_id', 'c.sub1')}`,
    )
  }
  for (const end of ends) sources.push(ofClicks(end))
  return sources.join('\n    union all ')

  function ofClicks({ sign, from, to }: Stretch): string {
    const day = `${put(dayOf(from))}::date`
    const key = { campaign: 'campaign_id::text', day: `${day}::text`, sub1: `coalesce(sub1, '')` }[dimension]
    return `select ${key} as key, ${sign < 0 ? '-' : ''}cost as cost from clicks c
        where org_id = $1 and id >= ${put(firstIdAt(from))}::uuid and id < ${put(firstIdAt(to + 1))}::uuid
          and tracked and cost_counts and cost <> 0 and ${isReplaced(day, 'c.campaign_id', `coalesce(c.sub1, '')`)}`
  }
}

const isReplaced = (day: string, campaign_id: string, sub1: string) =>
  `(exists (select from whole_days w where w.day = ${day} and w.campaign_id = ${campaign_id})
          or exists (select from single_cells w where w.day = ${day} and w.campaign_id = ${campaign_id} and w.sub1 = ${sub1}))`
