/**
 * The report by day, hour, or weekday and hour in any time zone whose offset is a multiple of half an hour, from half hours of UTC: exact even when
 * clocks change. Ragged ends are counted from the clicks, and so are days whose half hours do not add up to them. Reads `report_slot`,
 * `report_delta`, `events` and what the other report reads, in one statement and so in one snapshot.
 */
import type { Call } from '../../contract/endpoint.ts'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { possible, singleValue, type Window } from '../../contract/window.ts'
import type { Statement, Value } from '../../ground/db/statement.ts'
import type { Ground, Member } from '../../ground/room.ts'
import { NO_ID } from '../../intake/counters/deltas.ts'
import { type Goals, readGoals } from '../../traffic/event-settings/goals.ts'
import { LOCAL_DIMENSIONS, type LocalDimension, type MemberReport, type readReportAsMember } from './api.ts'
import { BY_KEY, conversionsOfEvents, convertedOf, IN_ALL } from './converted.ts'
import { type Cover, coverOf } from './cover.ts'
import { dayOfId } from './fold-events.ts'
import { clicksKeptFrom, inWholeDays, mayBeGone } from './kept.ts'
import { campaignsOf, readWarnings, reportWindowOf } from './question.ts'
import { daysTaken, IS_ANY_LEFT, listed, ofClicks, SLOT_MS, SLOT_NUMBERS, SLOTS_KEPT_DAYS, slotOfId } from './slots.ts'
import type { Put } from './sources.ts'
import { ALL_CAMPAIGNS, countsIn, UNITS, verdictsIn } from './units.ts'
import { type Shift, shiftsOf } from './zone.ts'

/** A report counts at most so many days from their clicks; with more it is refused until their half hours are complete. */
const MOST_RECOUNTED = 3

type MemberQuery = Call<typeof readReportAsMember>['query']
type Asking = Pick<Ground, 'database'> & { readonly actor: Member }

/** The query's dimension, if it is one of a time zone. */
export const localDimensionOf = ({ dimension }: MemberQuery): LocalDimension | undefined =>
  LOCAL_DIMENSIONS.find(known => known === dimension)

/**
 * The report by a dimension of the zone `tz`. Makes the refusals of the other report, `tz_unknown` and `tz_not_offered`, `invalid_window` for days
 * whose half hours are no longer kept, and `slots_incomplete` while older days have none yet.
 */
export async function localReport(
  { database, actor }: Asking,
  query: MemberQuery,
  dimension: LocalDimension,
  now = Date.now(),
): Promise<MemberReport> {
  const askedWindow = reportWindowOf(query)
  const tz = singleValue(query.tz, 'tz', 'tz_unknown')
  if (tz === undefined) refuse('tz_unknown', { error: `time zone required: ${dimension} needs one` })
  const shifts = shiftsOf(tz, possible(askedWindow))
  const campaigns = campaignsOf(actor, query.campaign_id)
  const whole = await countable(database, possible(askedWindow), now)
  const window = whole.from > whole.to ? askedWindow : whole
  const isEmpty = campaigns?.length === 0 || whole.from > whole.to
  const goals = await readGoals(database.reads, actor.org_id)
  const { found, converted, all } = isEmpty
    ? NOTHING
    : await runLocalReport(database, actor.org_id, { dimension, window: whole, campaigns, shifts, goals }, now)
  const warnings = readWarnings(query)
  return {
    dimension,
    window: { from: new Date(window.from).toISOString(), to: new Date(window.to).toISOString() },
    rows: found.flatMap(row =>
      row.key === null
        ? []
        : [
            {
              key: row.key,
              label: labelOf(dimension, row.key),
              ...numbersOf(row),
              ...convertedOf(converted.find(({ key }) => key === row.key) ?? {}),
            },
          ],
    ),
    totals: { ...numbersOf(found.find(({ key }) => key === null)), ...convertedOf(all) },
    truncated: false,
    ...(warnings.length === 0 ? {} : { warnings }),
    not_broken_down: null,
  }
}

/** The window in whole half hours where clicks are no longer kept. Refuses `invalid_window` where half hours are not. */
async function countable({ reads }: Ground['database'], window: Window, now: number): Promise<Window> {
  const first = dayOf(now - SLOTS_KEPT_DAYS * DAY_MS)
  if (window.from < Date.parse(first))
    refuse('invalid_window', {
      error: `invalid window: half hours are kept for ${SLOTS_KEPT_DAYS} days, so days and hours of a time zone are counted from ${first} on`,
      hint: 'Ask for dimension=day, which counts UTC days, or for a later window.',
    })
  const isKept = !mayBeGone(coverOf(window, now, SLOT_MS), now)
  return isKept ? window : inWholeDays(window, await clicksKeptFrom(reads), SLOT_MS)
}

type LocalQuestion = {
  readonly dimension: LocalDimension
  readonly window: Window
  readonly campaigns: readonly string[] | null
  readonly shifts: readonly Shift[]
  readonly goals: Goals
}
type SqlNumbers = { readonly [number: string]: string }
type LocalRow = SqlNumbers & { readonly key: string | null }
/** `converted` are the conversions by key, `all` those of all rows. */
type LocalResult = {
  readonly found: readonly LocalRow[]
  readonly converted: readonly SqlNumbers[]
  readonly all: SqlNumbers
}
const NOTHING: LocalResult = { found: [], converted: [], all: {} }

/** Where half hours do not add up to their day, runs the statement again and counts those days from their clicks. */
async function runLocalReport(
  { reads }: Ground['database'],
  org_id: number,
  question: LocalQuestion,
  now: number,
): Promise<LocalResult> {
  for (const recounted: string[] = []; ; ) {
    const { text, values = [] } = localStatementFor(org_id, question, recounted, now)
    const { rows } = await reads.query<{ differing: string[] } & LocalResult>(text, [...values])
    const { differing, ...answered } = rows[0] ?? { differing: [], ...NOTHING }
    if (differing.length === 0) return answered
    recounted.push(...differing)
    const kept_from = await clicksKeptFrom(reads)
    if (recounted.length > MOST_RECOUNTED || recounted.some(day => Date.parse(day) < kept_from))
      refuse('slots_incomplete', {
        error: `not counted yet: ${recounted.length} days from ${recounted.toSorted()[0]} on have no half hours`,
        headers: { 'retry-after': '60' },
      })
  }
}

/**
 * The statement of a report over a window that is possible, the days `recounted` from their clicks. Answers one row: `found`, rows by key and
 * with the key null their totals, and `differing`, more days whose half hours do not add up to them; where there are any, `found` is not right.
 */
function localStatementFor(
  org_id: number,
  question: LocalQuestion,
  recounted: readonly string[],
  now: number,
): Statement {
  const { dimension, window, campaigns, shifts } = question
  const values: Value[] = [org_id]
  const put: Put = value => `$${values.push(value)}`
  const cover = coverOf(window, now, SLOT_MS)
  const level = UNITS.campaign + (campaigns === null ? ALL_CAMPAIGNS : 0)
  const within = campaigns === null ? '' : ` and campaign_id = any(${put(campaigns)}::uuid[])`
  const together = campaigns === null ? ` and campaign_id = '${NO_ID}'` : within
  const numbers = SLOT_NUMBERS.join(', ')
  const days = `day between ${put(dayOf(window.from))}::date and ${put(dayOf(window.to))}::date
      and day <> all(${put(recounted)}::date[])`
  const ahead = aheadOf(shifts, put)
  const text = `
  with slotted as materialized (
    select day, slot, ${numbers} from report_slot where org_id = $1 and dimension = ${level}${together} and ${days}
    union all
    select day, slot, ${numbers} from report_delta where org_id = $1 and slot is not null${within} and ${days}
  ), differing as (
    select day from (
      select day, ${numbers} from slotted
      union all
      ${daysTaken(level, `${days}${within}`)}
    ) compared group by day having ${IS_ANY_LEFT}
  ), counted as (
    ${sourcesOf(cover, window, recounted, within, put)}
  ), timed as (
    select day, slot * 30 + ${ahead} as minute, ${numbers} from counted
  ), converted as (
    ${conversionsWithin(question, ahead, put)}
  ), keyed as (
    select ${KEYS[dimension]} as key, ${listed(name => `sum(${name}) as ${name}`)}
    from timed group by 1 having sum(clicks) <> 0
  )
  select array(select day::text from differing order by day) as differing,
    (select coalesce(json_agg(by_key), '[]') from (${BY_KEY}) by_key) as converted,
    (select row_to_json(in_all) from (${IN_ALL}) in_all) as "all",
    coalesce(json_agg(told order by key) filter (where told is not null), '[]') as found
  from (
    select key, json_build_object('key', key::text, ${listed(wireNumber)}) as told from keyed group by grouping sets ((key), ())
  ) rows`
  return { text, values }
}

const MONEY: ReadonlySet<string> = new Set(['revenue', 'cost', 'revenue_pending'])

/** The conversions of those clicks, from the events themselves: they are few, and are not counted by half hour. */
function conversionsWithin({ dimension, window, campaigns, goals }: LocalQuestion, ahead: string, put: Put): string {
  const within = campaigns === null ? '' : ` and e.campaign_id = any(${put(campaigns)}::uuid[])`
  const between = `e.click_id >= ${put(firstIdAt(window.from))}::uuid and e.click_id < ${put(firstIdAt(window.to + 1))}::uuid${within}`
  const from = `events e
        cross join lateral (select ${dayOfId('e.click_id')} as day, ${slotOfId('e.click_id')} as slot) placed
        cross join lateral (select slot * 30 + ${ahead} as minute) timed`
  return conversionsOfEvents({ key: KEYS[dimension], campaign: 'e.campaign_id', from, where: between }, goals, put)
}

/** A number of the answer: money with two decimals. */
const wireNumber = (name: string) => `'${name}', ${MONEY.has(name) ? `round(sum(${name}), 2)` : `sum(${name})`}::text`

// `minute` is the local time in minutes after the UTC midnight of `day`, between half a day before it and a day and a half after.
const LOCAL_DAY = '(day + ((minute + 1440) / 1440 - 1))'
const HOUR = `lpad(((minute + 1440) % 1440 / 60)::text, 2, '0')`
const KEYS: Record<LocalDimension, string> = {
  local_day: `${LOCAL_DAY}::text`,
  local_hour: HOUR,
  local_weekday_hour: `extract(isodow from ${LOCAL_DAY}) || '-' || ${HOUR}`,
}

/** SQL of how many minutes the clocks are ahead of UTC in a row's half hour. */
function aheadOf(shifts: readonly Shift[], put: Put): string {
  const [first, ...changes] = shifts.map(shift => ({ ...shift, minutes: `${put(shift.minutes)}::int` }))
  const cases = changes.toReversed().map(({ from, minutes }) => {
    const slot = Math.floor((from % DAY_MS) / SLOT_MS)
    return `when (day, slot) >= (${put(dayOf(from))}::date, ${put(slot)}::smallint) then ${minutes}`
  })
  return cases.length === 0 ? `${first?.minutes}` : `case ${cases.join(' ')} else ${first?.minutes} end`
}

/** SQL of rows of `day`, `slot` and the numbers: whole half hours, the clicks of cut ones, and the clicks of recounted days. */
function sourcesOf(
  { days, ends }: Cover,
  window: Window,
  recounted: readonly string[],
  within: string,
  put: Put,
): string {
  const placed = (slot: number) => `(${put(dayOf(slot * SLOT_MS))}::date, ${put(slot % 48)}::smallint)`
  const clicks = (from: number, to: number) =>
    `from clicks where org_id = $1 and id >= ${put(firstIdAt(from))}::uuid and id < ${put(firstIdAt(to + 1))}::uuid and tracked${within}`
  const sources = [
    `select day, slot, ${SLOT_NUMBERS.join(', ')} from slotted where (day, slot) between ${placed(days.first)} and ${placed(days.last)}`,
  ]
  for (const { sign, from, to } of ends)
    if (!recounted.includes(dayOf(from))) {
      const [day, slot] = [put(dayOf(from)), put(Math.floor((from % DAY_MS) / SLOT_MS))]
      sources.push(`select ${day}::date as day, ${slot}::smallint as slot, ${ofClicks(sign)} ${clicks(from, to)}`)
    }
  for (const day of recounted) {
    const [from, to] = [Math.max(Date.parse(day), window.from), Math.min(Date.parse(day) + DAY_MS - 1, window.to)]
    sources.push(
      `select ${put(day)}::date as day, ${slotOfId('id')} as slot, ${ofClicks()} ${clicks(from, to)} group by 2`,
    )
  }
  return sources.join('\n    union all ')
}

const numbersOf = (row: SqlNumbers = {}) => ({
  ...countsIn(row),
  revenue: row['revenue'] ?? '0.00',
  cost_of_clicks: row['cost'] ?? '0.00',
  ...verdictsIn(row),
})

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

function labelOf(dimension: LocalDimension, key: string): string {
  if (dimension === 'local_hour') return `${key}:00`
  return dimension === 'local_day' ? key : `${WEEKDAYS[Number(key[0]) - 1]} ${key.slice(2)}:00`
}
