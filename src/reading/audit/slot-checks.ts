/**
 * The audit's checks of half hours, from which the days and hours of time zones are summed. Where half hours do not add up to their day, it is counted
 * from its clicks and completed later, so that is no fault. Where they do, they must equal the clicks.
 */
import { NIL_ID } from '../../contract/ids.ts'
import { REACHED, STAGES } from '../../contract/ladder.ts'
import { STATUS_COUNTERS } from '../../intake/counters/deltas.ts'

/** SQL of the audit: the first kept click and its day, and the counters that are not folded yet. */
type Parts = {
  readonly FIRST_KEPT: string
  readonly FIRST_DAY: string
  readonly UNFOLDED: string
}

/** All counters, in the order of every comparison of the audit. */
export const NUMBERS = ['clicks', ...STAGES, 'revenue', 'cost', 'unread_costs', ...STATUS_COUNTERS]
export const IS_ANY = NUMBERS.map(name => `sum(${name}) <> 0`).join(' or ')
export const TAKEN = NUMBERS.map(name => `-${name}`).join(', ')
/** SQL of the UTC day of an id, whose first 48 bits are its milliseconds. */
export const dayOfIdSql = (id: string) =>
  `date '1970-01-01' + (('x' || left(replace(${id}::text, '-', ''), 12))::bit(48)::bigint / 86400000)::int`

const slotOf = (id: string) =>
  `((('x' || left(replace(${id}::text, '-', ''), 12))::bit(48)::bigint % 86400000) / 1800000)::smallint`

/**
 * Half hours by campaign, and the days that they add up to. The checks read those days as an array: as a join they would be computed again for each
 * row where the tables have no statistics yet, which takes minutes.
 */
const slotsOf = (FIRST_DAY: string, UNFOLDED: string) => `
  slots as materialized (
    select campaign_id, day, slot, ${NUMBERS.join(', ')} from report_slot where org_id = $1 and dimension = 1
    union all
    select campaign_id, day, slot, ${NUMBERS.join(', ')} from report_delta where org_id = $1 and slot is not null
  ), complete as (
    select day from (
      select day, ${NUMBERS.join(', ')} from slots
      union all
      select day, ${TAKEN} from report_day where org_id = $1 and dimension = 1
      union all
      select day, ${TAKEN} from (${UNFOLDED}) unfolded
    ) compared
    where day >= ${FIRST_DAY}
    group by day having not (${IS_ANY})
  )`

/** The checks, in the form of `audit.ts`. */
export const slotChecks = ({ FIRST_KEPT, FIRST_DAY, UNFOLDED }: Parts): Readonly<Record<string, string>> => ({
  'half hours that add up to their day count what the clicks are': `
    with ${slotsOf(FIRST_DAY, UNFOLDED)}
    select format('%s, half hour %s, campaign %s', day, slot, campaign_id) as wrong
    from (
      select campaign_id, day, slot, ${NUMBERS.join(', ')} from slots
      union all
      select coalesce(campaign_id, '${NIL_ID}'), ${dayOfIdSql('id')}, ${slotOf('id')}, -count(*), ${REACHED.map(bit => `-count(*) filter (where stages & ${bit} > 0)`).join(', ')},
        -coalesce(sum(revenue), 0), -coalesce(sum(cost) filter (where cost_counts), 0), -count(*) filter (where cost_counts and cost is null),
        ${STATUS_COUNTERS.map(name => `-coalesce(sum(${name}), 0)`).join(', ')}
      from clicks
      where org_id = $1 and tracked and id >= ${FIRST_KEPT}
      group by 1, 2, 3
    ) compared
    where day = any(array(select day from complete))
    group by campaign_id, day, slot having ${IS_ANY}`,

  'half hours of all campaigns are those of each': `
    select format('%s, half hour %s', day, slot) as wrong
    from (
      select day, slot, ${NUMBERS.join(', ')} from report_slot where org_id = $1 and dimension = 1
      union all
      select day, slot, ${TAKEN} from report_slot where org_id = $1 and dimension = 11
    ) compared
    group by day, slot having ${IS_ANY}`,
})
