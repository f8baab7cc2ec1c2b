/**
 * The causes of a fall: which values have fewer clicks or conversions than in the same hours of the weeks before, how much of the fall each explains, and
 * which changes it came after. Owns no table. Reads `clicks`, `events`, `offers` and `landings`.
 */
import type pg from 'pg'
import type { AlertCause } from '../../contract/alerts.ts'
import { HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import { firstIdAt, toWireId } from '../../contract/ids.ts'
import { SUBS } from '../../contract/fields.ts'
import { msOfId } from '../../ground/db/id-time.ts'
import type { Goals } from '../../traffic/event-settings/goals.ts'
import { changesBefore } from './changes.ts'
import { type Fall, IN_ONE_OF_WEEKS, WEEK_MS, WEEK_OF, WEEKS } from './falls.ts'

/** The dimensions of a click `c`, by their names in the report. */
const DIMENSIONS: Readonly<Record<string, string>> = {
  offer: 'c.offer_id::text',
  landing: 'c.landing_id::text',
  geo: 'c.geo',
  device: 'c.device',
  os: 'c.os',
  browser: 'c.browser',
  path: `split_part(c.click_flow_node_path, '/', 1)`,
  ...Object.fromEntries(SUBS.map(sub => [sub, `c.${sub}`])),
}
const NAMES: Readonly<Record<string, string>> = { offer: 'Offer', landing: 'Landing', geo: 'Country', path: 'Version' }
/** A value of more of the clicks than this explains nothing. */
const MOST_SHARE = 0.9
const LEAST_SHARE = 0.1
const MOST_CAUSES = 5
const MOST_CHANGES = 3
/** Each click is compared by seventeen fields, so more of them would take seconds. */
const MOST_CLICKS = 100_000

/** The minute of its week, which is the same minute of each week. Only changes are compared by it. */
const MINUTE = 'minute'
const MINUTES_OF_WEEK = WEEK_MS / MINUTE_MS

/** `minute`: SQL of the minutes since 1970. */
const valuesWith = (minute: string) =>
  `cross join lateral (values ${Object.entries({ ...DIMENSIONS, [MINUTE]: `(${minute} % ${MINUTES_OF_WEEK})::text` })
    .map(([name, column]) => `('${name}', ${column})`)
    .join(', ')}) as of(dimension, value)`

// A value that is new this week explains no fall.
const GROUPED = `
  select dimension, value, coalesce(sum(n) filter (where week = 0), 0)::float8 as seen,
    coalesce(sum(n) filter (where week > 0), 0)::float8 / ${WEEKS} as expected
  from counted group by 1, 2 having count(*) filter (where week > 0) > 0 or dimension = '${MINUTE}'`

const weekRange = (week: number) => `(c.id >= $${3 + week * 2}::uuid and c.id < $${4 + week * 2}::uuid)`
const CLICK_RANGES = Array.from({ length: WEEKS + 1 }, (_, week) => weekRange(week))

const CLICKS = `
  with counted as (
    select of.dimension, of.value, (case ${CLICK_RANGES.map((range, week) => `when ${range} then ${week}`).join(' ')} end) as week, count(*) as n
    from clicks c ${valuesWith(`${msOfId('c.id')} / ${MINUTE_MS}`)}
    where c.org_id = $1 and c.campaign_id = $2::uuid and (${CLICK_RANGES.join(' or ')}) and c.tracked
    group by 1, 2, 3
  )${GROUPED}`

const CONVERSIONS = `
  with counted as (
    select of.dimension, of.value, ${WEEK_OF('$3')} as week, count(*) as n
    from events e join clicks c on c.org_id = $1 and c.id = e.click_id ${valuesWith('floor(extract(epoch from e.created_at) / 60)::bigint')}
    where e.org_id = $1 and e.campaign_id = $2::uuid and (${IN_ONE_OF_WEEKS('$3', '$4::int')}) and not e.test and e.type = any($5::text[])
    group by 1, 2, 3
  )${GROUPED}`

type ValueCounts = { dimension: string; value: string | null; seen: number; expected: number }
type Pool = Pick<pg.Pool, 'query'>

/** The largest causes of a campaign's fall, the largest share first; none if none explains a tenth of it. `of`: what has fallen. */
export async function explainFall(
  pool: Pool,
  org_id: number,
  { fall, to_ms, of }: { readonly fall: Fall; readonly to_ms: number; readonly of: 'clicks' | Goals },
): Promise<AlertCause[]> {
  const { campaign_id, hours } = fall
  const clicks_from_ms = to_ms - hoursOfClicks(fall) * HOUR_MS
  const clicks = await clicksByValue(pool, org_id, campaign_id, clicks_from_ms, to_ms)
  const counted = of === 'clicks' ? clicks : await conversionsByValue(pool, org_id, { fall, to_ms, goals: of })
  const from_ms = of === 'clicks' ? clicks_from_ms : to_ms - hours * HOUR_MS
  const common = ofNearlyAll(clicks)
  const minutes = minutesOf(counted, from_ms)
  const missing = minutes.reduce((sum, { expected, seen }) => sum + expected - seen, 0)
  // Where only the last hours are read, the fall may have ended in them.
  if (missing <= 0) return []
  const causes = counted
    .map(row => ({ ...row, share: Math.min(1, (row.expected - row.seen) / missing) }))
    .filter(
      ({ dimension, value, share }) =>
        dimension !== MINUTE &&
        value !== null &&
        value !== '' &&
        share >= LEAST_SHARE &&
        !common.has(`${dimension} ${value}`),
    )
    .toSorted((one, other) => other.share - one.share)
    .slice(0, MOST_CAUSES)
  const objects = counted.flatMap(({ dimension, value }) => (isObject(dimension) && value !== null ? [value] : []))
  const changes = (await changesBefore(pool, org_id, { campaign_id, objects, from_ms, to_ms, minutes }))
    .filter(({ share }) => share >= LEAST_SHARE)
    .toSorted((one, other) => other.share - one.share)
  return [...(await withLabels(pool, org_id, causes)), ...changes.slice(0, MOST_CHANGES)]
    .toSorted((one, other) => other.share - one.share)
    .map(cause => ({ ...cause, share: Math.round(cause.share * 1000) / 1000 }))
}

const isObject = (dimension: string) => dimension === 'offer' || dimension === 'landing'

/** The counts by minute, which counts from `from_ms` on. */
function minutesOf(counted: readonly ValueCounts[], from_ms: number) {
  const first = Math.floor(from_ms / MINUTE_MS) % MINUTES_OF_WEEK
  return counted
    .filter(({ dimension }) => dimension === MINUTE)
    .map(({ value, ...counts }) => ({
      ...counts,
      minute: (Number(value) - first + MINUTES_OF_WEEK) % MINUTES_OF_WEEK,
    }))
}

/** Values that more than nine of ten clicks have, in this week or before. */
function ofNearlyAll(clicks: readonly ValueCounts[]): Set<string> {
  const found = new Set<string>()
  for (const [dimension, rows] of Map.groupBy(clicks, row => row.dimension)) {
    if (dimension === MINUTE) continue
    for (const { value, expected, seen } of rows) {
      const all = rows.reduce((sum, row) => sum + row.expected + row.seen, 0)
      if (expected + seen > MOST_SHARE * all) found.add(`${dimension} ${value}`)
    }
  }
  return found
}

/** Of how many hours clicks are compared. Where there are too many, the last hours of the fall stand for all of them. */
const hoursOfClicks = ({ hours, expected }: Fall): number =>
  Math.min(hours, Math.max(1, Math.floor((hours * MOST_CLICKS) / Math.max(1, expected * (WEEKS + 1)))))

async function clicksByValue(pool: Pool, org_id: number, campaign_id: string, from_ms: number, to_ms: number) {
  const ranges = Array.from({ length: WEEKS + 1 }, (_, week) => [
    firstIdAt(from_ms - week * WEEK_MS),
    firstIdAt(to_ms - week * WEEK_MS),
  ]).flat()
  return (await pool.query<ValueCounts>(CLICKS, [org_id, campaign_id, ...ranges])).rows
}

async function conversionsByValue(
  pool: Pool,
  org_id: number,
  { fall, to_ms, goals }: { readonly fall: Fall; readonly to_ms: number; readonly goals: Goals },
) {
  const goal = goals.own.find(({ id }) => id === fall.campaign_id)?.goal ?? goals.goal
  const values = [org_id, fall.campaign_id, new Date(to_ms).toISOString(), fall.hours, goal]
  return (await pool.query<ValueCounts>(CONVERSIONS, values)).rows
}

const NAMED = `
  select id::text, name from offers where org_id = $1 and id = any($2::uuid[])
  union all select id::text, name from landings where org_id = $1 and id = any($2::uuid[])`

async function withLabels(
  pool: Pool,
  org_id: number,
  causes: readonly { dimension: string; value: string | null; share: number }[],
): Promise<AlertCause[]> {
  const ids = causes.flatMap(({ dimension, value }) => (isObject(dimension) && value !== null ? [value] : []))
  const { rows } = await pool.query<{ id: string; name: string }>(NAMED, [org_id, ids])
  return causes.map(({ dimension, value, share }) => {
    const name = isObject(dimension) ? (rows.find(({ id }) => id === value)?.name ?? '') : value
    return {
      dimension,
      value: isObject(dimension) && value !== null ? toWireId(value) : value,
      label: `${NAMES[dimension] ?? dimension} ${name}`,
      share,
    }
  })
}
