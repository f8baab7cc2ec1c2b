/**
 * Compares the segments of each organization with the report's counters, day by day, and rebuilds the days that differ from their clicks. A day differs
 * if it is older than the segments, or if a process of an earlier version has changed it, because such a process writes no sheets.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import { REACHED, STAGES } from '../../contract/ladder.ts'
import type { Among } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, organizationsWith, type Rounds } from '../../ground/rounds.ts'
import type { ClickState } from '../../intake/counters/click-sheet.ts'
import { IS_PENDING, IS_REJECTED, LAST_STATUS } from '../../intake/counters/conversions.ts'
import { clicksKeptFrom } from '../reports/kept.ts'
import { dayOfId } from '../reports/fold-events.ts'
import { ofClicks, SLOT_NUMBERS } from '../reports/slots.ts'
import { entriesOf, factRowsBefore, type SheetEntry } from './entries.ts'
import { FIXED, type FixedClick, inOrder, STANDING, type VisitorHash } from './facts.ts'
import { numberColumns, negatedReport, SEGMENT_NUMBERS, segmentSums } from './numbers.ts'
import { partsOf } from './parts.ts'
import { areManyWaiting, visitorHashOf } from './seal.ts'
import { insertSegments, withSegmentsLock } from './store.ts'

/** Every answer names the days that differ, so they must be rebuilt within a minute after the last process of an earlier version has ended. */
const PAUSE_MS = 40_000
/** Within this time one check is enough, by whichever process. */
const CHECKED_MS = PAUSE_MS / 3
/** Clicks that are read at a time and become one segment: as many as are sealed at a time. */
const PORTION = 5000

/** The next organization with clicks in the report; see `organizationsWith`. */
export const NEXT_COUNTED = (among: Among) =>
  `select org_id from report_day where org_id > $1${among('org_id')} order by org_id limit 1`
// `checked_at` is null until a first check has ended. Until then two processes may check at once; they still take turns at rebuilding days.
const CLAIM = `
  insert into explore_turns as t (org_id) values ($1)
  on conflict (org_id) do update set checked_at = case when t.checked_at is null then null else $2::timestamptz end
  where t.checked_at is null or t.checked_at <= $3
  returning org_id`
const FIRST_ENDED = 'update explore_turns set checked_at = $2 where org_id = $1 and checked_at is null'

/** The UTC day of the id of a click `c`. */
export const DAY_OF_ID = dayOfId('c.id')

/** SQL of what an entry `e` adds to each number with the state after its change, or with `was_` subtracts with the state before it. */
function numbersOf(was: '' | 'was_'): Record<string, string> {
  const sign = was === '' ? '' : '-'
  const counts =
    was === ''
      ? 'case when e.was_stages is null then c.cost_counts is not null else e.cost_counts end'
      : 'e.was_cost_counts'
  return {
    clicks: `${sign}1`,
    ...Object.fromEntries(STAGES.map((rung, at) => [rung, `${sign}(e.${was}stages & ${REACHED[at]} <> 0)::int`])),
    revenue: `${sign}coalesce(e.${was}revenue::numeric, 0)`,
    cost: `${sign}case when ${counts} then coalesce(c.cost, 0) else 0 end`,
    unread_costs: `${sign}(${counts} and c.cost is null)::int`,
    revenue_pending: `${sign}coalesce(e.${was}revenue_pending::numeric, 0)`,
    approved: `${sign}coalesce(e.${was}approved, 0)`,
    pending: `${sign}coalesce(e.${was}pending, 0)`,
    rejected: `${sign}coalesce(e.${was}rejected, 0)`,
    events: `${sign}${conversionsIn(was, [1, 2, 3])}`,
    events_pending: `${sign}${conversionsIn(was, [2])}`,
    events_rejected: `${sign}${conversionsIn(was, [3])}`,
    without_amounts: `(e.${was}revenue::numeric <> 0 and e.${was}conversions ~ ':[1-9][0-9]*,[0-9]+,[0-9]+( |$)')::int`,
  }
}

/** SQL of the number of conversions in an entry: the sum of the counts at these places. */
const conversionsIn = (
  was: '' | 'was_',
  places: readonly number[],
): string => `case when e.${was}conversions is null then 0 else (
      select sum(${places.map(at => `split_part(split_part(one, ':', 2), ',', ${at})::int`).join(' + ')})
      from unnest(string_to_array(e.${was}conversions, ' ')) as one) end`

/** SQL of the day and the numbers of each unsealed entry, by its state after the change or (`was_`) before it. */
const waiting = (was: '' | 'was_') => {
  const numbers = numbersOf(was)
  return `select ${DAY_OF_ID} as day, ${SEGMENT_NUMBERS.map(name => `coalesce(${numbers[name]}, 0) as ${name}`).join(', ')}
    from entries e
    cross join lateral (select id, cost, cost_counts from clicks where org_id = $1 and id = e.id limit 1) c
    where e.${was}tracked`
}

/** The differences as a text. Two texts are equal only if the differences are. */
const LEFT = `concat_ws(' ', ${SEGMENT_NUMBERS.map(name => `trim_scale(sum(${name}))`).join(', ')}) as differing`

const IS_ANY_LEFT = `(${SEGMENT_NUMBERS.map(name => `sum(${name}) <> 0`).join(' or ')})`

/**
 * The days from $2 on whose segments and unsealed entries differ from the report's counters, latest first; `differing` says by how much. Questions of
 * Explore compare the same, with the sums of the facts that they have made of unsealed entries (explore/unsealed.ts).
 */
export const DIFFERING = `
  with entries as (${entriesOf('(select * from click_sheet where org_id = $1) as sheets')})
  select day::text as day, ${LEFT}
  from (
    ${segmentSums('day >= $2::date')}
    union all ${waiting('')}
    union all ${waiting('was_')}
    union all ${negatedReport('day >= $2::date')}
  ) compared
  where day >= $2::date
  group by day having ${IS_ANY_LEFT} order by day desc`

const EVENTS_OF_CLICKS: Readonly<Record<string, string>> = {
  events: 'count(*)',
  events_pending: `count(*) filter (where ${IS_PENDING('r.status')})`,
  events_rejected: `count(*) filter (where ${IS_REJECTED('r.status')})`,
}

/** By how much the clicks of the day $2, from the id $3 up to $4, differ from the report's counters; no row where they agree. */
const AT_FAULT = `
  select ${LEFT} from (
    select day, ${numberColumns(name => (SLOT_NUMBERS.includes(name) ? name : undefined))} from (
      select $2::date as day, ${ofClicks()} from clicks where org_id = $1 and id >= $3::uuid and id < $4::uuid and tracked
    ) clicked
    union all
    select $2::date, ${numberColumns(name => EVENTS_OF_CLICKS[name])}
    from events e
    join clicks c on c.org_id = $1 and c.id = e.click_id and c.tracked
    left join lateral (${LAST_STATUS('$1', 'e.id')}) r on true
    where e.org_id = $1 and e.click_id >= $3::uuid and e.click_id < $4::uuid
    union all ${negatedReport('day = $2::date')}
  ) compared
  having ${IS_ANY_LEFT}`

const CLEAR = 'delete from segments where org_id = $1 and day = $2'
const IS_KEPT = 'select 1 where not exists (select from dropped_clicks where before_id > $1::uuid)'
const BOUND = `
  select id from clicks where org_id = $1 and id >= $2::uuid and id < $3::uuid order by id offset ${PORTION} limit 1`
/** Clicks with their unsealed entries, in one snapshot. */
const READ = `
  with entries as (${entriesOf('(select * from click_sheet where org_id = $1) as sheets')}), told as (
    select id, json_agg(e) as entries from entries e where id >= $2::uuid and id < $3::uuid group by id
  )
  select ${FIXED}, ${STANDING}, t.entries
  from clicks c left join told t on t.id = c.id
  where c.org_id = $1 and c.id >= $2::uuid and c.id < $3::uuid`

type CheckGround = Pick<Ground, 'database' | 'secrets' | 'log'>
type DifferingDay = { readonly day: string; readonly differing: string }

/** Opens the periodic check; any number of processes may run it. */
export function openSegmentChecks(ground: CheckGround): Rounds {
  return openRounds(
    'segments/check',
    PAUSE_MS,
    signal => checkSegments(ground, { apart_ms: CHECKED_MS, signal }),
    error => ground.log.warn({ err: error }, 'could not check the days of Explore; retrying'),
  )
}

type CheckOptions = { readonly apart_ms?: number; readonly signal?: AbortSignal }

/** Checks every organization that was not checked within `apart_ms`, and rebuilds the days that differ, latest first. @throws database errors */
export async function checkSegments(ground: CheckGround, { apart_ms = 0, signal }: CheckOptions = {}): Promise<void> {
  const { worker } = ground.database
  for await (const org_id of organizationsWith(NEXT_COUNTED, worker, signal)) {
    const now = Date.now()
    const claimed = await worker.query(CLAIM, [org_id, new Date(now), new Date(now - apart_ms)])
    if (claimed.rows.length > 0 && (await checkOrganization(ground, org_id, signal)))
      await worker.query(FIRST_ENDED, [org_id, new Date()])
  }
}

/** Whether every day that differed was handled: false where the check ended early or another process had the turn. */
async function checkOrganization(
  { database, secrets, log }: CheckGround,
  org_id: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const { worker } = database
  // To compare days, all unsealed entries would be read. The next check comes when fewer are left.
  if (await areManyWaiting(worker, org_id)) return false
  let isWhole = true
  const differingAtFirst = await differingDays(worker, org_id)
  forgetMendedDays(org_id, differingAtFirst)
  for (const { day, differing } of differingAtFirst) {
    if (signal?.aborted) return false
    const began = performance.now()
    if (faulty.get(org_id)?.get(day) === differing) continue
    if (!(await rebuildDay(worker, org_id, day, visitorHashOf(secrets, org_id), signal))) {
      isWhole = false
      continue
    }
    const left = (await differingDays(worker, org_id, day)).find(one => one.day === day)
    if (left?.differing === differing) await rememberDifferingClicks({ worker, log }, org_id, day)
    // Pauses as long as the rebuild took, so that others get the database.
    await sleep(performance.now() - began, undefined, { signal }).catch(() => {})
  }
  return isWhole
}

/** By organization, the days whose clicks themselves differ from the report, and by how much; the organization found last comes last. */
const faulty = new Map<number, Map<string, string>>()
/** The most organizations remembered. Beyond this the oldest is forgotten, and its days are rebuilt once more. */
const MOST_FAULTY = 1000

/** Forgets days that no longer differ. */
function forgetMendedDays(org_id: number, differing: readonly DifferingDay[]): void {
  const days = faulty.get(org_id)
  if (days === undefined) return
  const still = new Set(differing.map(({ day }) => day))
  for (const day of days.keys()) if (!still.has(day)) days.delete(day)
  if (days.size === 0) faulty.delete(org_id)
}

function rememberFaulty(org_id: number, day: string, differing: string): void {
  const days = faulty.get(org_id) ?? new Map<string, string>()
  faulty.delete(org_id)
  faulty.set(org_id, days.set(day, differing))
  const [first] = faulty.keys()
  if (faulty.size > MOST_FAULTY && first !== undefined) faulty.delete(first)
}

/**
 * Handles a day that differs by as much after its rebuild as before. Where its clicks themselves differ from the report, the segments are right, and
 * the day is remembered so that it is not rebuilt again and again. Otherwise a process of an earlier version has made the same change once more.
 */
async function rememberDifferingClicks(
  { worker, log }: { worker: pg.Pool } & Pick<CheckGround, 'log'>,
  org_id: number,
  day: string,
): Promise<void> {
  const { rows } = await worker.query<{ differing: string }>(AT_FAULT, [org_id, day, ...idsOfDay(day)])
  const differing = rows[0]?.differing
  if (differing === undefined) return
  rememberFaulty(org_id, day, differing)
  log.warn({ org_id, day, differing }, 'the clicks of a day differ from the report; npm run reconcile shows how')
}

/** The first id of a UTC day, and that of the next. */
const idsOfDay = (day: string) => [firstIdAt(Date.parse(day)), firstIdAt(Date.parse(day) + DAY_MS)] as const

async function differingDays(pool: pg.Pool, org_id: number, from?: string): Promise<DifferingDay[]> {
  const kept = dayOf(await clicksKeptFrom(pool))
  const { rows } = await pool.query<DifferingDay>(DIFFERING, [org_id, from === undefined || from < kept ? kept : from])
  return rows
}

type ClickWithEntries = FixedClick & ClickState & { readonly entries: SheetEntry[] | null }

/**
 * Rebuilds the segments of a UTC day from its clicks: the state of each click without the changes of its unsealed entries, which are sealed later as
 * usual. Portions may be read in different snapshots, because sealing waits meanwhile. Returns false if another process has the turn, the day's clicks
 * are no longer kept, or `signal` has ended it. @throws database errors
 */
export async function rebuildDay(
  pool: pg.Pool,
  org_id: number,
  day: string,
  hash: VisitorHash,
  signal?: AbortSignal,
): Promise<boolean> {
  const [first, end] = idsOfDay(day)
  const over = new Error('the day is left as it was')
  try {
    const built = await withSegmentsLock(pool, org_id, async client => {
      await client.query(CLEAR, [org_id, day])
      for (let from: string | undefined = first; from !== undefined; ) {
        if (signal?.aborted) throw over
        const bound: { id: string } | undefined = (await client.query<{ id: string }>(BOUND, [org_id, from, end]))
          .rows[0]
        const { rows } = await client.query<ClickWithEntries>(READ, [org_id, from, bound?.id ?? end])
        const facts = rows.flatMap(({ entries, ...click }) => factRowsBefore(click, entries ?? [], hash))
        await insertSegments(client, org_id, day, partsOf(inOrder(facts)))
        from = bound?.id
      }
      // This transaction locks the partition that it has read, so no drop can happen after this check.
      const kept = await client.query(IS_KEPT, [first])
      if (kept.rows.length === 0) throw over
      return true
    })
    return built === true
  } catch (error) {
    if (error === over) return false
    throw error
  }
}
