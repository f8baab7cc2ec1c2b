/**
 * Falls of clicks and conversions: campaigns that have fewer of them in the last full hours than the same hours of the four weeks before suggest. Owns
 * no table. Clicks are those of the report's half hours. Conversions are those of the campaign's goal by the time of their recording, whatever became
 * of them: late conversions of earlier clicks would make every last hour look like a fall.
 */
import type pg from 'pg'
import { DAY_MS, dayOf, HOUR_MS } from '../../contract/days.ts'
import { SLOT_MS } from '../../reading/reports/slots.ts'
import { UNITS } from '../../reading/reports/units.ts'
import type { Goals } from '../../traffic/event-settings/goals.ts'
import { averageOf, isFall, isMore } from './poisson.ts'

/** The last full hours that are looked at. */
const WINDOWS = [1, 3, 6, 12, 24] as const
export const WEEKS = 4
export const WEEK_MS = 7 * 24 * HOUR_MS

/** The counts of a campaign within each of `WINDOWS`, of this week (0) or an earlier one. */
type WeekCounts = {
  readonly campaign_id: string
  readonly name: string
  readonly week: number
  readonly counts: number[]
}

export type Fall = {
  readonly campaign_id: string
  readonly name: string
  readonly hours: number
  readonly seen: number
  readonly expected: number
}

const inWindows = (age: string, value: string) =>
  `array[${WINDOWS.map(hours => `coalesce(sum(${value}) filter (where ${age} < ${hours}), 0)`).join(', ')}]::float8[]`

// $1 the organization, $2 the number of the half hour after the last one, since 1970, $3 the UTC days of all hours.
const CLICKS = `
  select s.campaign_id, c.name, s.week, ${inWindows('s.hours', 's.clicks')} as counts
  from (
    select campaign_id, (age / 336)::int as week, (age % 336) / 2 as hours, clicks
    from (
      select campaign_id, $2::bigint - 1 - ((day - '1970-01-01'::date) * 48 + slot) as age, clicks from report_slot
      where org_id = $1 and dimension = ${UNITS.campaign} and day = any($3::date[])
      union all
      select campaign_id, $2::bigint - 1 - ((day - '1970-01-01'::date) * 48 + slot) as age, clicks from report_delta
      where org_id = $1 and slot is not null and day = any($3::date[])
    ) counted
    where age >= 0 and age < ${WEEKS * 336 + 48} and age % 336 < 48
  ) s
  join campaigns c on c.org_id = $1 and c.id = s.campaign_id
  where c.deleted_at is null and c.status = 'active'
  group by s.campaign_id, c.name, s.week`

/** The condition that a conversion `e` was recorded in the `hours` before the moment `to`, or in the same hours of an earlier week. */
export const IN_ONE_OF_WEEKS = (to: string, hours: string) =>
  Array.from({ length: WEEKS + 1 }, (_, week) => {
    const end = `${to}::timestamptz - interval '${week * 168} hours'`
    return `(e.created_at >= ${end} - interval '1 hour' * ${hours} and e.created_at < ${end})`
  }).join(' or ')

/** How many weeks before the moment `to` a conversion `e` was recorded. */
export const WEEK_OF = (to: string) =>
  `(floor(extract(epoch from ${to}::timestamptz - e.created_at - interval '1 microsecond') / ${WEEK_MS / 1000}))::int`

const CONVERSIONS = `
  select e.campaign_id, c.name, ${WEEK_OF('$2')} as week,
    ${inWindows(
      `(floor(extract(epoch from $2::timestamptz - e.created_at - interval '1 microsecond'))::bigint % ${WEEK_MS / 1000}) / 3600.0`,
      '1',
    )} as counts
  from events e
  join campaigns c on c.org_id = $1 and c.id = e.campaign_id
  left join json_to_recordset($3::json) as g(id uuid, goal text[]) on g.id = e.campaign_id
  where e.org_id = $1 and (${IN_ONE_OF_WEEKS('$2', '24')}) and not e.test and e.type = any(coalesce(g.goal, $4::text[]))
    and c.deleted_at is null and c.status = 'active'
  group by e.campaign_id, c.name, week`

type Pool = Pick<pg.Pool, 'query'>

/** `least`: a fall is told where so many are expected. `open`: the campaigns whose fall was told and is not over. */
type FallsAsked = {
  readonly org_id: number
  readonly to_ms: number
  readonly least: number
  readonly open: ReadonlySet<string | null>
}

/** The falls of clicks in the hours before the full hour `to_ms`. */
export async function clickFalls(pool: Pool, asked: FallsAsked): Promise<Fall[]> {
  const { org_id, to_ms } = asked
  const { rows } = await pool.query<WeekCounts>(CLICKS, [org_id, Math.floor(to_ms / SLOT_MS), daysBefore(to_ms)])
  return judged(rows, asked)
}

/** The UTC days of the last 24 hours, of this week and the earlier ones. */
function daysBefore(to_ms: number): string[] {
  const ends = Array.from({ length: WEEKS + 1 }, (_, week) => to_ms - week * WEEK_MS)
  return [...new Set(ends.flatMap(end => [dayOf(end - DAY_MS), dayOf(end - 1)]))]
}

/** The same of conversions of the goal. */
export async function conversionFalls(pool: Pool, asked: FallsAsked, { goal, own }: Goals): Promise<Fall[]> {
  const { org_id, to_ms } = asked
  const values = [org_id, new Date(to_ms).toISOString(), JSON.stringify(own), goal]
  const { rows } = await pool.query<WeekCounts>(CONVERSIONS, values)
  return judged(rows, asked)
}

function judged(rows: readonly WeekCounts[], { least, open }: FallsAsked): Fall[] {
  return [...Map.groupBy(rows, ({ campaign_id }) => campaign_id)].flatMap(([campaign_id, weeks]) => {
    const fall = fallOf(weeks, least, open.has(campaign_id))
    return fall === undefined ? [] : [{ campaign_id, name: weeks[0]?.name ?? '', ...fall }]
  })
}

type WindowCounts = Pick<Fall, 'hours' | 'seen' | 'expected'> & { readonly weeks: readonly number[] }

/** The window with the largest fall; undefined if there is none, or it is over although longer windows still hold it. */
export function fallOf(
  rows: readonly Pick<WeekCounts, 'week' | 'counts'>[],
  least: number,
  isOpen: boolean,
): Pick<Fall, 'hours' | 'seen' | 'expected'> | undefined {
  const countIn = (week: number, at: number) => rows.find(row => row.week === week)?.counts[at] ?? 0
  const windows = WINDOWS.map((hours, at): WindowCounts => {
    const weeks = Array.from({ length: WEEKS }, (_, before) => countIn(before + 1, at))
    return { hours, seen: countIn(0, at), expected: averageOf(weeks), weeks }
  }).filter(({ expected }) => expected >= least)
  const falls = windows.filter(({ seen, weeks }) => isFall(seen, weeks, isOpen))
  if (isOpen ? hasRecovered(windows, falls) : isAsExpected(windows[0])) return undefined
  return falls
    .map(({ weeks: _, ...fall }) => fall)
    .toSorted((one, other) => other.expected - other.seen - (one.expected - one.seen))[0]
}

const isAsExpected = (window: WindowCounts | undefined): boolean =>
  window === undefined || window.seen >= window.expected

/** Whether a window has as many as expected, which the deepest fall would not let come by chance if it went on. */
function hasRecovered(windows: readonly WindowCounts[], falls: readonly WindowCounts[]): boolean {
  const part = Math.min(...falls.map(({ seen, expected }) => seen / expected))
  return windows.some(window => isAsExpected(window) && isMore(window.seen, part * window.expected))
}
