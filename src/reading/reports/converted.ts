/**
 * The SQL of conversions by type and status, as one union: counters of days and weeks, the events and revisions that are not counted yet, and the
 * events of the partial days at the window's ends. A conversion counts on the day of its click. Every conversion counts, however many its click has.
 */
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import { IS_PENDING, IS_REJECTED, LAST_STATUS } from '../../intake/counters/conversions.ts'
import type { Goals } from '../../traffic/event-settings/goals.ts'
import type { Converted, ReportDimension } from './api.ts'
import { type Cover, type DayRange, isAny, weeksOf } from './cover.ts'
import { ALL_CAMPAIGNS, UNITS, WEEK } from './units.ts'
import { dayOfId, PENDING_CHANGE, REJECTED_CHANGE, WAS } from './fold-events.ts'
import { type Put, UUID_KEY } from './sources.ts'

type Slice = {
  readonly dimension: ReportDimension
  readonly campaigns: readonly string[] | null
  readonly cover: Cover
  readonly goals: Goals
}

/** SQL of a row's key: `counted` reads it from a counter, `told` from an event `e` with its click `c`. */
const KEYS: Record<ReportDimension, { counted: string; ofEvent: string; ofClick?: true }> = {
  campaign: { counted: UUID_KEY('campaign_id'), ofEvent: `coalesce(e.campaign_id::text, '')` },
  geo: { counted: 'key', ofEvent: `coalesce(c.geo, '')`, ofClick: true },
  sub1: { counted: 'key', ofEvent: `coalesce(c.sub1, '')`, ofClick: true },
  offer: { counted: 'key', ofEvent: `coalesce(e.offer_id::text, '')` },
  day: { counted: 'day::text', ofEvent: `${dayOfId('e.click_id')}::text` },
}

/** The counts of a row: all conversions, and the pending and rejected ones among them. */
const COUNTS = ['events', 'pending', 'rejected'] as const

/** The sums of `COUNTS` over all conversions, and (as `goal_events` and so on) over those that are their campaign's goal. */
const summed = (isGoal: string) =>
  COUNTS.map(
    name => `sum(${name}) as ${name}, coalesce(sum(${name}) filter (where ${isGoal}), 0) as goal_${name}`,
  ).join(', ')

/** The `COUNTS` of one event `e`, whose last status is `r.status`. */
const STANDING = (
  sign: 1 | -1,
) => `${sign}::bigint as events, ${sign}::bigint * coalesce((${IS_PENDING('r.status')})::int, 0) as pending,
      ${sign}::bigint * coalesce((${IS_REJECTED('r.status')})::int, 0) as rejected`

/** Joins the last status of the event `e` as `r.status`. */
const LAST_WORD = `left join lateral (${LAST_STATUS('$1', 'e.id')}) r on true`

/**
 * Rows of `key`, `type`, the `COUNTS`, and the same counts of conversions that are their campaign's goal (`goal_events` …), for the organization in
 * `$1`. Reads the counters of single campaigns only for some campaigns, by campaign, or where campaigns have goals of their own.
 */
export function conversionsOf({ dimension, campaigns, cover, goals }: Slice, put: Put): string {
  const { counted, ofEvent, ofClick } = KEYS[dimension]
  const within = campaigns === null ? '' : ` and campaign_id = any(${put(campaigns)}::uuid[])`
  const isApart = campaigns !== null || dimension === 'campaign' || goals.own.length > 0
  const level = UNITS[dimension === 'day' ? 'campaign' : dimension] + (isApart ? 0 : ALL_CAMPAIGNS)
  const kept = ({ first, last }: DayRange, of: number) =>
    `select ${counted} as key, campaign_id, type, ${COUNTS.join(', ')} from event_counts where org_id = $1 and dimension = ${of}
      and day between ${put(dayOf(first * DAY_MS))}::date and ${put(dayOf(last * DAY_MS))}::date${within}`
  const events = (from: number, to: number, counts: string, source: string, more = '') =>
    `select ${ofEvent} as key, e.campaign_id, e.type, ${counts} from ${source}
      ${ofClick ? 'left join clicks c on c.org_id = $1 and c.id = e.click_id' : ''}
      where e.org_id = $1 and e.click_id >= ${put(firstIdAt(from))}::uuid and e.click_id < ${put(firstIdAt(to + 1))}::uuid
        and not e.test${more}${within.replace('campaign_id', 'e.campaign_id')}`
  const { days, ends } = cover
  const { weeks, around } = dimension === 'day' ? { weeks: undefined, around: [days] } : weeksOf(days)
  const sources = around.filter(isAny).map(of => kept(of, level))
  if (weeks !== undefined && isAny(weeks)) sources.push(kept(weeks, level + WEEK))
  if (isAny(days)) {
    const [from, to] = [days.first * DAY_MS, (days.last + 1) * DAY_MS - 1]
    const changes = `0::bigint as events, ${PENDING_CHANGE}::bigint as pending, ${REJECTED_CHANGE}::bigint as rejected`
    sources.push(
      events(
        from,
        to,
        '1::bigint as events, 0::bigint as pending, 0::bigint as rejected',
        'events e',
        ' and not e.counted',
      ),
      events(
        from,
        to,
        changes,
        `event_revisions r join events e on e.org_id = $1 and e.id = r.event_id ${WAS}`,
        UNCOUNTED,
      ),
    )
  }
  for (const { sign, from, to } of ends) sources.push(events(from, to, STANDING(sign), `events e ${LAST_WORD}`))
  const { join, is } = goalOf(goals, 'campaign_id', 'type', put)
  return `select key, type, ${summed(is)}
    from (
    ${sources.join('\n    union all ')}
    ) told ${join} group by key, type having sum(events) <> 0`
}

const UNCOUNTED = ' and r.org_id = $1 and not r.counted'

/** The same from single events, summed by key and type. `source` is SQL: the key, the campaign, the `from` with the event as `e`, and a condition. */
export function conversionsOfEvents(
  source: { readonly key: string; readonly campaign: string; readonly from: string; readonly where: string },
  goals: Goals,
  put: Put,
): string {
  const { join, is } = goalOf(goals, 'told.campaign_id', 'told.type', put)
  return `select key, type, ${summed(is)}
    from (
      select ${source.key} as key, ${source.campaign} as campaign_id, e.type, ${STANDING(1)}
      from ${source.from} ${LAST_WORD}
      where e.org_id = $1 and not e.test and ${source.where}
    ) told ${join} group by key, type`
}

/** The condition that a type is a goal of its campaign, and the join that the condition needs. */
function goalOf({ goal, own }: Goals, campaign: string, type: string, put: Put): { join: string; is: string } {
  const usual = `${put(goal)}::text[]`
  if (own.length === 0) return { join: '', is: `${type} = any(${usual})` }
  const join = `left join json_to_recordset(${put(JSON.stringify(own))}::json) as own(id uuid, goal text[]) on own.id = ${campaign}`
  return { join, is: `${type} = any(coalesce(own.goal, ${usual}))` }
}

/** The conversions of a row: by type as JSON, because most types have none, and the counts of the goal. */
type ConvertedRow = { readonly [column: string]: string | null | undefined }

/** The columns that `convertedOf` reads. */
export const CONVERTED = ['by_type', ...COUNTS.map(name => `goal_${name}`)] as const

const BY_TYPE = `json_object_agg(type, json_build_object('approved', events - pending - rejected, 'pending', pending, 'rejected', rejected))::text as by_type`
const OF_GOAL = COUNTS.map(name => `sum(goal_${name})::text as goal_${name}`).join(', ')

/** The sums over rows of `conversionsOf`. */
export const CONVERSION_SUMS = COUNTS.map(name => `sum(${name}) as ${name}, sum(goal_${name}) as goal_${name}`).join(
  ', ',
)

/** Conversions by `key`, from the relation `converted`, which has a row for each key and type. */
export const BY_KEY = `select key, ${BY_TYPE}, ${OF_GOAL} from converted group by key`
/** The same over all keys. */
export const IN_ALL = `select ${BY_TYPE}, ${OF_GOAL}
      from (select type, ${CONVERSION_SUMS} from converted group by type) types`

/** The conversions of a row for the API. A conversion that is neither pending nor rejected is approved. */
export function convertedOf(row: ConvertedRow, prefix: '' | 'total_' = ''): Converted {
  const [events, pending, rejected] = COUNTS.map(name => Number(row[`${prefix}goal_${name}`] ?? 0)) as [
    number,
    number,
    number,
  ]
  return {
    conversions: events - pending - rejected,
    conversions_pending: pending,
    conversions_rejected: rejected,
    by_type: JSON.parse(row[`${prefix}by_type`] ?? '{}') as Converted['by_type'],
  }
}
