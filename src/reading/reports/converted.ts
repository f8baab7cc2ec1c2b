/**
 * The SQL of conversions by type, and how they stand: what is counted in days and weeks, the events and revisions that are not counted yet, and
 * the events of the ragged ends, as one union. A conversion counts on the day of its click, as all that a click has come to does; each counts,
 * however many its click has.
 */
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import { IS_PENDING, IS_REJECTED, LAST_STATUS } from '../../intake/counters/conversions.ts'
import { NO_ID } from '../../intake/counters/deltas.ts'
import type { Goals } from '../../traffic/event-settings/goals.ts'
import type { Converted, Dimension } from './api.ts'
import { type Cover, type Days, weeksOf } from './cover.ts'
import { ALL_CAMPAIGNS, UNITS, WEEK } from './units.ts'
import { dayOfId, PENDING_CHANGE, REJECTED_CHANGE, WAS } from './fold-events.ts'
import type { Put } from './sources.ts'

type Slice = {
  readonly dimension: Dimension
  readonly campaigns: readonly string[] | null
  readonly cover: Cover
  readonly goals: Goals
}

const UUID_KEY = (column: string) => `case when ${column} <> '${NO_ID}' then ${column}::text else '' end`

/** How the key of a row is made: of a counter, and of an event `e` with its click `c`. */
const KEYS: Record<Dimension, { counted: string; told: string; ofClick?: true }> = {
  campaign: { counted: UUID_KEY('campaign_id'), told: `coalesce(e.campaign_id::text, '')` },
  geo: { counted: 'key', told: `coalesce(c.geo, '')`, ofClick: true },
  sub1: { counted: 'key', told: `coalesce(c.sub1, '')`, ofClick: true },
  offer: { counted: 'key', told: `coalesce(e.offer_id::text, '')` },
  day: { counted: 'day::text', told: `${dayOfId('e.click_id')}::text` },
}

/** How many conversions a row is of: all of them, and of these the pending and the rejected ones. */
const COUNTS = ['events', 'pending', 'rejected'] as const

/** The same in `by_type`, and of those that are their campaign's goal in `goal_events` and so on, for a select from rows with `COUNTS`. */
const summed = (isGoal: string) =>
  COUNTS.map(
    name => `sum(${name}) as ${name}, coalesce(sum(${name}) filter (where ${isGoal}), 0) as goal_${name}`,
  ).join(', ')

/** What an event `e` counts, whose last status is `r.status`. */
const STANDING = (
  sign: 1 | -1,
) => `${sign}::bigint as events, ${sign}::bigint * coalesce((${IS_PENDING('r.status')})::int, 0) as pending,
      ${sign}::bigint * coalesce((${IS_REJECTED('r.status')})::int, 0) as rejected`

/** The last word on the event `e`, as `r.status`. */
const LAST_WORD = `left join lateral (${LAST_STATUS('$1', 'e.id')}) r on true`

/**
 * Rows of `key`, `type`, how many `events` of it, how many of these are `pending` and `rejected`, and of all three those that are their campaign's
 * goal (`goal_events` …), for the organization in `$1`. Only where campaigns have goals of their own are their counters looked at one by one.
 */
export function conversionsOf({ dimension, campaigns, cover, goals }: Slice, put: Put): string {
  const { counted, told, ofClick } = KEYS[dimension]
  const within = campaigns === null ? '' : ` and campaign_id = any(${put(campaigns)}::uuid[])`
  const isApart = campaigns !== null || dimension === 'campaign' || goals.own.length > 0
  const level = UNITS[dimension === 'day' ? 'campaign' : dimension] + (isApart ? 0 : ALL_CAMPAIGNS)
  const kept = ({ first, last }: Days, of: number) =>
    `select ${counted} as key, campaign_id, type, ${COUNTS.join(', ')} from event_counts where org_id = $1 and dimension = ${of}
      and day between ${put(dayOf(first * DAY_MS))}::date and ${put(dayOf(last * DAY_MS))}::date${within}`
  const events = (from: number, to: number, counts: string, source: string, more = '') =>
    `select ${told} as key, e.campaign_id, e.type, ${counts} from ${source}
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

/** Conversions of single events: rows of `source` with a `key`, their campaign and type as they are called there, and `e` the event. Summed by key and type. */
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

/** Whether a type is the goal of a campaign, as a condition, and what is joined for it. */
function goalOf({ goal, own }: Goals, campaign: string, type: string, put: Put): { join: string; is: string } {
  const usual = `${put(goal)}::text[]`
  if (own.length === 0) return { join: '', is: `${type} = any(${usual})` }
  const join = `left join json_to_recordset(${put(JSON.stringify(own))}::json) as own(id uuid, goal text[]) on own.id = ${campaign}`
  return { join, is: `${type} = any(coalesce(own.goal, ${usual}))` }
}

const isAny = ({ first, last }: Days): boolean => first <= last

/** What a row has: conversions by type as JSON, because only few types have any, and those of the goal. */
type Row = { readonly [column: string]: string | null | undefined }

/** The columns that `convertedOf` reads, with a prefix or without. */
export const CONVERTED = ['by_type', ...COUNTS.map(name => `goal_${name}`)] as const

const BY_TYPE = `json_object_agg(type, json_build_object('approved', events - pending - rejected, 'pending', pending, 'rejected', rejected))::text as by_type`
const OF_GOAL = COUNTS.map(name => `sum(goal_${name})::text as goal_${name}`).join(', ')

/** Rows of `conversionsOf`, added up. */
export const CONVERSION_SUMS = COUNTS.map(name => `sum(${name}) as ${name}, sum(goal_${name}) as goal_${name}`).join(
  ', ',
)

/** By `key`, out of a `converted` of one row for each key and type. */
export const BY_KEY = `select key, ${BY_TYPE}, ${OF_GOAL} from converted group by key`
/** Over all keys. */
export const IN_ALL = `select ${BY_TYPE}, ${OF_GOAL}
      from (select type, ${CONVERSION_SUMS} from converted group by type) types`

/** As they are answered: of the goal, and by type. What is neither pending nor rejected is approved. */
export function convertedOf(row: Row, prefix: '' | 'total_' = ''): Converted {
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
