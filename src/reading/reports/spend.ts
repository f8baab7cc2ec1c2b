/**
 * The SQL of a report's cost, by rank: what was entered, what was spread over clicks, what ad accounts say, what the clicks have cost
 * themselves. A row takes the place of all of lower rank in what it covers: without a sub1 the campaign's whole day, else that cell (UTC day,
 * campaign, sub1). Rows of one rank add up. Nothing is rewritten: where a row is deleted, what it covered is back. A cell is replaced whole, also
 * where the window cuts its day, because spend counts by day. `recount.ts` says the same of plain rows.
 */
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import type { Dimension } from './api.ts'
import type { Cover, Days, Stretch } from './cover.ts'
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

/** The column that rows of spend and cells of clicks are added up by. */
const COLUMNS: Record<Spending, string> = { campaign: 'campaign_id', sub1: 'sub1', day: 'day' }

/** What was spread over the clicks without a sub1 is theirs; other spend without one is of nobody in particular. */
const APART = `case when source = 'spread' then sub1 else nullif(sub1, '') end`

const IS_SPREAD = `origin like 'spread:%'`

type Asked = Pick<Question, 'window' | 'campaigns'> & { readonly dimension: Spending; readonly cover: Cover }

/** The days whose spend counts: a day does when the window covers more than its first millisecond. */
export function spentDays({ from, to }: Question['window']): [first: string, last: string] {
  return [dayOf(from), dayOf(to % DAY_MS === 0 ? to - 1 : to)]
}

/**
 * Parts of a `with`, the last of them `spent`: `key`, `cost` and `cost_source`. They stand behind `grouped`, the counters by key. Where
 * `isApart`, spend without a sub1 has the key null, which no clicks have.
 */
export function spentOf({ dimension, window, campaigns, cover }: Asked, isApart: boolean, put: Put): string {
  const [first, last] = spentDays(window).map(day => `${put(day)}::date`)
  const within = campaigns === null ? '' : ` and campaign_id = any(${put(campaigns)}::uuid[])`
  const booked = `day between ${first} and ${last}${within}`
  const column = COLUMNS[dimension]
  return `counting as (
    ${countingOf(booked)}
  ), cells as not materialized (
    select day, campaign_id, sub1 from ad_spend where org_id = $1 and ${booked}
    union all
    select day, campaign_id, sub1 from booked_spend where org_id = $1 and ${booked}
  ), unfolded as materialized (
    ${unfoldedOf(cover, within, put)}
  ), linked as (
    select campaign_id from report_day
    where org_id = $1 and dimension = ${UNITS.campaign + WEEK} and day between ${first} - 6 and ${last}${within} and cost <> 0
  ), replacing as materialized (
    select campaign_id, day, bool_or(sub1 = '') as is_whole, array_agg(sub1) filter (where sub1 <> '') as subs from cells
    where campaign_id in (select campaign_id from linked) group by campaign_id, day
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

/** The rows of spend that nothing of higher rank covers. */
function countingOf(booked: string): string {
  const entered = `(select day, campaign_id, sub1 from ad_spend where org_id = $1 and ${booked})`
  const spread = `(select day, campaign_id, sub1 from booked_spend where org_id = $1 and ${booked} and ${IS_SPREAD})`
  return `select day, campaign_id, sub1, amount, source from ad_spend where org_id = $1 and ${booked}
    union all
    select day, campaign_id, sub1, amount, split_part(origin, ':', 1) as source from booked_spend e
    where org_id = $1 and ${booked} and amount <> 0 and not ${isCovered('e', entered)} and (${IS_SPREAD} or not ${isCovered('e', spread)})`
}

/**
 * Whether rows cover a cell: its campaign's whole day, or itself. As one or the other it is not planned as joins, but looked up for each cell in a
 * hash or an index; how many cells there are, which is guessed badly, can do little harm then.
 */
function isCovered(cell: string, by: string): string {
  const isThere = (sub1: string) =>
    `exists (select from ${by} h where h.day = ${cell}.day and h.campaign_id = ${cell}.campaign_id and h.sub1 = ${sub1})`
  return `(${isThere(`''`)} or ${isThere(`${cell}.sub1`)})`
}

/** What clicks have cost by cell, as far as it is not folded yet or cut by the ends of the window. */
function unfoldedOf({ days, ends }: Cover, within: string, put: Put): string {
  const ofEnd = ({ sign, from, to }: Stretch) => {
    const cost = `${sign < 0 ? '-' : ''}sum(cost) as cost`
    return `select ${put(dayOf(from))}::date as day, campaign_id, coalesce(sub1, '') as sub1, ${cost}
      from clicks where org_id = $1 and id >= ${put(firstIdAt(from))}::uuid and id < ${put(firstIdAt(to + 1))}::uuid
        and tracked and cost_counts and cost <> 0${within} group by 2, 3`
  }
  const sources = ends.map(ofEnd)
  if (days.first <= days.last)
    sources.push(`select day, campaign_id, sub1, sum(cost) as cost from report_delta
      where org_id = $1 and cost <> 0 and ${betweenOf(days, put)}${within} group by day, campaign_id, sub1`)
  return sources.join('\n    union all ')
}

/**
 * So many cells of one campaign's day are searched between their first and last, which only the index that ends in the sub1 can do: by another one
 * every cell there would be held against each of them.
 */
const MANY = 100

/**
 * What the clicks of replaced cells have cost within the window: from the same places as all counters. Of counted days all cells of a
 * campaign's day are looked up at once, and all whole days of a campaign, because a search of its own for each is most of what a report takes.
 */
function replacedOf(dimension: Spending, { days }: Cover, put: Put): string {
  const unfolded = `select u.day, u.campaign_id, u.sub1, u.cost from unfolded u where ${isCovered('u', 'cells')}`
  if (days.first > days.last) return unfolded
  const counted = (unit: number) =>
    `join report_day d on d.org_id = $1 and d.dimension = ${unit} and d.${betweenOf(days, put)}`
  const cells = 'select d.day, d.campaign_id, d.key as sub1, d.cost'
  const end = (which: 'min' | 'max') => `(select ${which}(sub1) from unnest(subs) sub1) as ${which}`
  return `${unfolded}
      union all
      ${cells} from (select campaign_id, array_agg(day) as days from replacing where is_whole group by campaign_id) r
        ${counted(dimension === 'sub1' ? UNITS.sub1 : UNITS.campaign)} and d.campaign_id = r.campaign_id and d.day = any(r.days)
      union all
      ${cells} from replacing r ${counted(UNITS.sub1)} and d.day = r.day and d.campaign_id = r.campaign_id and d.key = any(r.subs)
      where not is_whole and cardinality(subs) <= ${MANY}
      union all
      ${cells}
      from (select day, campaign_id, subs, ${end('min')}, ${end('max')} from replacing where not is_whole and cardinality(subs) > ${MANY}) r
        ${counted(UNITS.sub1)} and d.day = r.day and (d.campaign_id, d.key) >= (r.campaign_id, r.min)
          and (d.campaign_id, d.key) <= (r.campaign_id, r.max) and d.key = any(r.subs)`
}

const betweenOf = ({ first, last }: Days, put: Put) =>
  `day between ${put(dayOf(first * DAY_MS))}::date and ${put(dayOf(last * DAY_MS))}::date`
