/**
 * Half hours of the UTC day, from which the days and hours of a time zone are summed: the SQL that folds them, compares them with the days of
 * `report_day`, and completes them from the clicks. Owns `report_slot`, together with `fold.ts`.
 *
 * Processes from this version on record the half hour of each change; `report_day` has the changes of all processes. So half hours lack only the
 * changes of earlier versions, which only add. Hence in one snapshot, if the half hours of a day add up to the day, counter by counter, each of them
 * is right (docs/decisions/004-deltas.md).
 */
import { DAY_MS } from '../../contract/days.ts'
import { LADDER, REACHED } from '../../contract/ladder.ts'
import { NO_ID, STATUS_COUNTERS } from '../../intake/counters/deltas.ts'
import { ALL_CAMPAIGNS, ALL_COUNTERS, UNITS } from './units.ts'

export const SLOT_MS = DAY_MS / 48

/** In UTC days, more than the widest window. Older half hours are deleted. */
export const SLOTS_KEPT_DAYS = 100

/** SQL of each counter over clicks. */
const OF_CLICKS: Readonly<Record<string, string>> = {
  clicks: 'count(*)',
  ...Object.fromEntries(
    LADDER.slice(1).map((rung, at) => [rung, `count(*) filter (where stages & ${REACHED[at]} <> 0)`]),
  ),
  revenue: 'coalesce(sum(revenue), 0)',
  cost: 'coalesce(sum(cost) filter (where cost_counts), 0)',
  unread_costs: 'count(*) filter (where cost_counts and cost is null)',
  ...Object.fromEntries(STATUS_COUNTERS.map(name => [name, `coalesce(sum(${name}), 0)`])),
}

/** The counters of half hours. */
export const SLOT_NUMBERS = Object.keys(OF_CLICKS)

/** A list of columns: `of` of each number. */
export const listed = (of: (name: string) => string): string => SLOT_NUMBERS.map(of).join(', ')

/** The columns that count clicks, for a `select` from `clicks`; negated with the sign -1. */
export const ofClicks = (sign: 1 | -1 = 1): string =>
  listed(name => `${sign < 0 ? '-' : ''}${OF_CLICKS[name]} as ${name}`)

/** SQL of the half hour of an id, whose first 48 bits are its milliseconds. */
export const slotOfId = (id: string) =>
  `((('x' || left(replace(${id}::text, '-', ''), 12))::bit(48)::bigint % ${DAY_MS}) / ${SLOT_MS})::smallint`

/** Adds sums to the rows of `report_slot`, in the order of the primary key. */
const added = (names: readonly string[]) => `
  order by 2, 3, 4, 5
  on conflict (org_id, dimension, campaign_id, day, slot) do update
    set ${names.map(name => `${name} = counted.${name} + excluded.${name}`).join(', ')}`

const LEVEL = `${UNITS.campaign} + ${ALL_CAMPAIGNS} * grouping(campaign_id)`
const EITHER_LEVEL = 'group by grouping sets ((campaign_id, day, slot), (day, slot))'

/** Adds the rows of `told` (campaign, day, slot and all counters) to half hours; a part of the statement of `fold.ts`. */
export const ADD_SLOTS = `
  insert into report_slot as counted (org_id, dimension, campaign_id, day, slot, ${ALL_COUNTERS.join(', ')})
  select $1::int, ${LEVEL}, coalesce(campaign_id, '${NO_ID}'), day, slot,
    ${ALL_COUNTERS.map(name => `coalesce(sum(${name}), 0)`).join(', ')}
  from cells where slot is not null
  ${EITHER_LEVEL}${added(ALL_COUNTERS)}`

/** SQL of the negated counters of days from `report_day` and the sheets; `where` is a condition on both. */
export function daysTaken(dimension: number, where: string): string {
  const taken = listed(name => `-${name} as ${name}`)
  return `select day, ${taken} from report_day where org_id = $1 and dimension = ${dimension} and ${where}
    union all
    select day, ${taken} from report_delta where org_id = $1 and ${where}`
}

export const IS_ANY_LEFT = `(${SLOT_NUMBERS.map(name => `sum(${name}) <> 0`).join(' or ')})`

/** The days from $2 on whose half hours do not add up to them, latest first. */
export const DIFFERING_DAYS = `
  select day::text as day from (
    select day, ${SLOT_NUMBERS.join(', ')} from report_slot
    where org_id = $1 and dimension = ${UNITS.campaign + ALL_CAMPAIGNS} and campaign_id = '${NO_ID}' and day >= $2::date
    union all
    select day, ${SLOT_NUMBERS.join(', ')} from report_delta where org_id = $1 and slot is not null and day >= $2::date
    union all
    ${daysTaken(UNITS.campaign + ALL_CAMPAIGNS, 'day >= $2::date')}
  ) compared
  group by day having ${IS_ANY_LEFT} order by day desc`

/**
 * Adds to the half hours of the day $2 what they lack against its clicks, from the id $3 up to $4. The difference is taken in one snapshot, and adding
 * it commutes with folding and with new changes. Two of these statements at once would add it twice, hence the lock in `complete-slots.ts`.
 */
export const COMPLETE_DAY = `
  with compared as (
    select coalesce(campaign_id, '${NO_ID}') as campaign_id, ${slotOfId('id')} as slot, ${ofClicks()}
    from clicks where org_id = $1 and id >= $3::uuid and id < $4::uuid and tracked group by 1, 2
    union all
    select campaign_id, slot, ${listed(name => `-${name}`)} from report_slot
    where org_id = $1 and dimension = ${UNITS.campaign} and day = $2::date
    union all
    select campaign_id, slot, ${listed(name => `-${name}`)} from report_delta
    where org_id = $1 and slot is not null and day = $2::date
  ), missing as (
    select campaign_id, slot, $2::date as day, ${listed(name => `coalesce(sum(${name}), 0) as ${name}`)}
    from compared where not exists (select from dropped_clicks where before_id > $3::uuid)
    group by campaign_id, slot having ${IS_ANY_LEFT}
  )
  insert into report_slot as counted (org_id, dimension, campaign_id, day, slot, ${SLOT_NUMBERS.join(', ')})
  select $1::int, ${LEVEL}, coalesce(campaign_id, '${NO_ID}'), day, slot,
    ${SLOT_NUMBERS.map(name => `sum(${name})`).join(', ')}
  from missing
  ${EITHER_LEVEL}${added(SLOT_NUMBERS)}`
