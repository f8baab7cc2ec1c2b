/**
 * Half hours of the UTC day, from which the days and hours of a time zone are made: the SQL of how they are folded, held against the days of
 * `report_day`, and completed from the clicks. Owns `report_slot`, with the folder.
 *
 * Every process of this version on says the half hour of what it changes, `report_day` has what changes from all of them. So what is
 * missing in the half hours of a day is what an earlier version has written; it took nothing away, so it is missing in sums as well: in one
 * snapshot, a day whose half hours add up to the day, counter by counter, is right in each of them (docs/decisions/004-deltas.md).
 */
import { DAY_MS } from '../../contract/days.ts'
import { LADDER, REACHED } from '../../contract/ladder.ts'
import { NO_ID, VERDICTS } from '../../intake/counters/deltas.ts'
import { ALL_CAMPAIGNS, ALL_COUNTERS, UNITS } from './units.ts'

export const SLOT_MS = DAY_MS / 48

/** More than the widest window, in days of UTC; those before are forgotten. */
export const SLOTS_KEPT_DAYS = 100

/** How each counter is counted from clicks. */
const OF_CLICKS: Readonly<Record<string, string>> = {
  clicks: 'count(*)',
  ...Object.fromEntries(
    LADDER.slice(1).map((rung, at) => [rung, `count(*) filter (where stages & ${REACHED[at]} <> 0)`]),
  ),
  revenue: 'coalesce(sum(revenue), 0)',
  cost: 'coalesce(sum(cost) filter (where cost_counts), 0)',
  unread_costs: 'count(*) filter (where cost_counts and cost is null)',
  ...Object.fromEntries(VERDICTS.map(name => [name, `coalesce(sum(${name}), 0)`])),
}

/** What is counted by half hours. */
export const SLOT_NUMBERS = Object.keys(OF_CLICKS)

/** Each number as `of` says it, for a list of columns. */
export const listed = (of: (name: string) => string): string => SLOT_NUMBERS.map(of).join(', ')

/** The columns that count clicks, for a `select` from `clicks`; added or taken away. */
export const ofClicks = (sign: 1 | -1 = 1): string =>
  listed(name => `${sign < 0 ? '-' : ''}${OF_CLICKS[name]} as ${name}`)

/** The half hour of the UTC day a click was made in: the id's first 48 bits are its milliseconds. */
export const slotOfId = (id: string) =>
  `((('x' || left(replace(${id}::text, '-', ''), 12))::bit(48)::bigint % ${DAY_MS}) / ${SLOT_MS})::smallint`

/** Puts sums into `report_slot`, beside those that are there; in the order of the primary key. */
const added = (names: readonly string[]) => `
  order by 2, 3, 4, 5
  on conflict (org_id, dimension, campaign_id, day, slot) do update
    set ${names.map(name => `${name} = counted.${name} + excluded.${name}`).join(', ')}`

const LEVEL = `${UNITS.campaign} + ${ALL_CAMPAIGNS} * grouping(campaign_id)`
const EITHER_LEVEL = 'group by grouping sets ((campaign_id, day, slot), (day, slot))'

/** Adds what `told` says by half hour, rows of a campaign, a day, a slot and all counters; for the folder's statement. */
export const ADD_SLOTS = `
  insert into report_slot as counted (org_id, dimension, campaign_id, day, slot, ${ALL_COUNTERS.join(', ')})
  select $1::int, ${LEVEL}, coalesce(campaign_id, '${NO_ID}'), day, slot,
    ${ALL_COUNTERS.map(name => `coalesce(sum(${name}), 0)`).join(', ')}
  from told where slot is not null
  ${EITHER_LEVEL}${added(ALL_COUNTERS)}`

/** What the days come to by `report_day` and the sheets, taken away: rows of `day` and the numbers, where `where` holds of each source. */
export function daysTaken(dimension: number, where: string): string {
  const taken = listed(name => `-${name} as ${name}`)
  return `select day, ${taken} from report_day where org_id = $1 and dimension = ${dimension} and ${where}
    union all
    select day, ${taken} from report_delta where org_id = $1 and ${where}`
}

export const IS_ANY_LEFT = `(${SLOT_NUMBERS.map(name => `sum(${name}) <> 0`).join(' or ')})`

/** The days from $2 on whose half hours do not add up to them, the last first, as `day`. */
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
 * Adds to the half hours of the day $2 what the clicks from the id $3 up to $4 count and they do not. What is missing is one sum in one
 * snapshot, and adding commutes with folding and with whatever is counted meanwhile; but two of these at once would add it twice.
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
