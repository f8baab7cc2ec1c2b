/**
 * The SQL of conversions by type: what is counted in days and weeks, what waits to be counted, and the events of the ragged ends, as one
 * union. A conversion counts on the day of its click, as all that a click has come to does; each counts, however many its click has.
 */
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import { NO_ID } from '../../intake/counters/deltas.ts'
import type { Goals } from '../../traffic/event-settings/goals.ts'
import type { Conversions, Dimension } from './api.ts'
import { type Cover, type Days, weeksOf } from './cover.ts'
import { ALL_CAMPAIGNS, UNITS, WEEK } from './units.ts'
import { dayOfId } from './fold-events.ts'
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

/**
 * Rows of `key`, `type`, how many `events` of it, and how many of them are their campaign's `goal`, for the organization in `$1`. Only where
 * campaigns have goals of their own are their counters looked at one by one.
 */
export function conversionsOf({ dimension, campaigns, cover, goals }: Slice, put: Put): string {
  const { counted, told, ofClick } = KEYS[dimension]
  const within = campaigns === null ? '' : ` and campaign_id = any(${put(campaigns)}::uuid[])`
  const isApart = campaigns !== null || dimension === 'campaign' || goals.own.length > 0
  const level = UNITS[dimension === 'day' ? 'campaign' : dimension] + (isApart ? 0 : ALL_CAMPAIGNS)
  const kept = ({ first, last }: Days, of: number) =>
    `select ${counted} as key, campaign_id, type, events from event_counts where org_id = $1 and dimension = ${of}
      and day between ${put(dayOf(first * DAY_MS))}::date and ${put(dayOf(last * DAY_MS))}::date${within}`
  const events = (from: number, to: number, sign: 1 | -1, more = '') =>
    `select ${told} as key, e.campaign_id, e.type, ${sign}::bigint as events from events e
      ${ofClick ? 'left join clicks c on c.org_id = $1 and c.id = e.click_id' : ''}
      where e.org_id = $1 and e.click_id >= ${put(firstIdAt(from))}::uuid and e.click_id < ${put(firstIdAt(to + 1))}::uuid
        and not e.test${more}${within.replace('campaign_id', 'e.campaign_id')}`
  const { days, ends } = cover
  const { weeks, around } = dimension === 'day' ? { weeks: undefined, around: [days] } : weeksOf(days)
  const sources = around.filter(isAny).map(of => kept(of, level))
  if (weeks !== undefined && isAny(weeks)) sources.push(kept(weeks, level + WEEK))
  if (isAny(days)) sources.push(events(days.first * DAY_MS, (days.last + 1) * DAY_MS - 1, 1, ' and not e.counted'))
  for (const { sign, from, to } of ends) sources.push(events(from, to, sign))
  const { join, is } = goalOf(goals, 'campaign_id', 'type', put)
  return `select key, type, sum(events) as events, coalesce(sum(events) filter (where ${is}), 0) as goal
    from (
    ${sources.join('\n    union all ')}
    ) told ${join} group by key, type having sum(events) <> 0`
}

/** Whether a type is the goal of a campaign, as a condition, and what is joined for it. */
export function goalOf({ goal, own }: Goals, campaign: string, type: string, put: Put): { join: string; is: string } {
  const usual = `${put(goal)}::text[]`
  if (own.length === 0) return { join: '', is: `${type} = any(${usual})` }
  const join = `left join json_to_recordset(${put(JSON.stringify(own))}::json) as own(id uuid, goal text[]) on own.id = ${campaign}`
  return { join, is: `${type} = any(coalesce(own.goal, ${usual}))` }
}

const isAny = ({ first, last }: Days): boolean => first <= last

/** What a row has: conversions by type as JSON, because only few types have any, and those of the goal. */
type Row = { readonly [column: string]: string | null | undefined }

/** By `key`, out of a `converted` of one row for each key and type. */
export const BY_KEY = `select key, json_object_agg(type, events)::text as conversions, sum(goal)::text as goal from converted group by key`
/** Over all keys. */
export const IN_ALL = `select json_object_agg(type, events)::text as conversions, sum(goal)::text as goal
      from (select type, sum(events) as events, sum(goal) as goal from converted group by type) types`

/** As they are answered. */
export function convertedOf(row: Row, prefix: '' | 'total_' = ''): { conversions: Conversions; goal: number } {
  const conversions = JSON.parse(row[`${prefix}conversions`] ?? '{}') as Conversions
  return { conversions, goal: Number(row[`${prefix}goal`] ?? 0) }
}
