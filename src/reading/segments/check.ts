/**
 * Holds the segments of each organization against the report's counters, day by day, and builds anew from the clicks those that do not come to
 * the same: days of before there were segments, and what a process of an earlier version changes beside a newer one, which writes no sheets.
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
import { ofClicks, SLOT_NUMBERS } from '../reports/slots.ts'
import {
  type Entry,
  entriesOf,
  FIXED,
  type Fixed,
  factOf,
  type Hash,
  net,
  type Row,
  rowsOf,
  STANDING,
  signed,
} from './facts.ts'
import { numbered, reportTaken, SEGMENT_NUMBERS, segmentsHave } from './numbers.ts'
import { partsOf } from './parts.ts'
import { areManyWaiting, hashOf } from './seal.ts'
import { insertSegments, inTurn } from './store.ts'

/** Days that differ are named by every answer; what an earlier version has changed is to be in within a minute of its end. */
const PAUSE_MS = 40_000
/** Between processes: one check within a pause is enough. */
const CHECKED_MS = PAUSE_MS / 3
/** Clicks at a time, and of one segment: as many as are sealed at a time. */
const PORTION = 5000

/** Whose clicks the report counts; see `organizationsWith`. */
export const NEXT_COUNTED = (among: Among) =>
  `select org_id from report_day where org_id > $1${among('org_id')} order by org_id limit 1`
// Until the first check has ended there is no time to keep: two processes may then check at once, and each day is built in turn.
const CLAIM = `
  insert into explore_turns as t (org_id) values ($1)
  on conflict (org_id) do update set checked_at = case when t.checked_at is null then null else $2::timestamptz end
  where t.checked_at is null or t.checked_at <= $3
  returning org_id`
const FIRST_ENDED = 'update explore_turns set checked_at = $2 where org_id = $1 and checked_at is null'

/** The UTC day of the id of a click `c`. */
export const DAY_OF_ID = `(date '1970-01-01' + (('x' || left(replace(c.id::text, '-', ''), 12))::bit(48)::bigint / ${DAY_MS})::int)`

/** What a state of a click adds to each number; `e` is the entry, `was_` in front where it is how it was. */
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

/** How many conversions an entry names, added up over the places of their counts. */
const conversionsIn = (
  was: '' | 'was_',
  places: readonly number[],
): string => `case when e.${was}conversions is null then 0 else (
      select sum(${places.map(at => `split_part(split_part(one, ':', 2), ',', ${at})::int`).join(' + ')})
      from unnest(string_to_array(e.${was}conversions, ' ')) as one) end`

/** The days and numbers of what waits to be sealed, of the states before or after. */
const waiting = (was: '' | 'was_') => {
  const numbers = numbersOf(was)
  return `select ${DAY_OF_ID} as day, ${SEGMENT_NUMBERS.map(name => `coalesce(${numbers[name]}, 0) as ${name}`).join(', ')}
    from entries e
    cross join lateral (select id, cost, cost_counts from clicks where org_id = $1 and id = e.id limit 1) c
    where e.${was}tracked`
}

/** By how much sums differ from none, as text: equal for equal amounts alone. */
const LEFT = `concat_ws(' ', ${SEGMENT_NUMBERS.map(name => `trim_scale(sum(${name}))`).join(', ')}) as differing`

const IS_ANY_LEFT = `(${SEGMENT_NUMBERS.map(name => `sum(${name}) <> 0`).join(' or ')})`

/** For a question as well. The days from $2 on whose segments, with what waits, do not come to what the report counts, the last first; `differing` is by how much. */
export const DIFFERING = `
  with entries as (${entriesOf('(select * from click_sheet where org_id = $1) as sheets')})
  select day::text as day, ${LEFT}
  from (
    ${segmentsHave('day >= $2::date')}
    union all ${waiting('')}
    union all ${waiting('was_')}
    union all ${reportTaken('day >= $2::date')}
  ) compared
  where day >= $2::date
  group by day having ${IS_ANY_LEFT} order by day desc`

const EVENTS_OF_CLICKS: Readonly<Record<string, string>> = {
  events: 'count(*)',
  events_pending: `count(*) filter (where ${IS_PENDING('r.status')})`,
  events_rejected: `count(*) filter (where ${IS_REJECTED('r.status')})`,
}

/** By how much the clicks of the day $2, from the id $3 up to $4, do not come to what the report counts themselves; no row where they do. */
const AT_FAULT = `
  select ${LEFT} from (
    select day, ${numbered(name => (SLOT_NUMBERS.includes(name) ? name : undefined))} from (
      select $2::date as day, ${ofClicks()} from clicks where org_id = $1 and id >= $3::uuid and id < $4::uuid and tracked
    ) clicked
    union all
    select $2::date, ${numbered(name => EVENTS_OF_CLICKS[name])}
    from events e
    join clicks c on c.org_id = $1 and c.id = e.click_id and c.tracked
    left join lateral (${LAST_STATUS('$1', 'e.id')}) r on true
    where e.org_id = $1 and e.click_id >= $3::uuid and e.click_id < $4::uuid
    union all ${reportTaken('day = $2::date')}
  ) compared
  having ${IS_ANY_LEFT}`

const CLEAR = 'delete from segments where org_id = $1 and day = $2'
const IS_KEPT = 'select 1 where not exists (select from dropped_clicks where before_id > $1::uuid)'
const BOUND = `
  select id from clicks where org_id = $1 and id >= $2::uuid and id < $3::uuid order by id offset ${PORTION} limit 1`
/** Clicks as they are, each with what waits to be sealed of it, in one snapshot. */
const READ = `
  with entries as (${entriesOf('(select * from click_sheet where org_id = $1) as sheets')}), told as (
    select id, json_agg(e) as entries from entries e where id >= $2::uuid and id < $3::uuid group by id
  )
  select ${FIXED}, ${STANDING}, t.entries
  from clicks c left join told t on t.id = c.id
  where c.org_id = $1 and c.id >= $2::uuid and c.id < $3::uuid`

type Parts = Pick<Ground, 'database' | 'secrets' | 'log'>
type Differing = { readonly day: string; readonly differing: string }

/** Opens the checks, which go round until they are closed; any number of processes may have them. */
export function openSegmentChecks(ground: Parts): Rounds {
  return openRounds(
    'segments/check',
    PAUSE_MS,
    signal => checkSegments(ground, { apart_ms: CHECKED_MS, signal }),
    error => ground.log.warn({ err: error }, 'days of Explore were not completed; it is tried again'),
  )
}

type How = { readonly apart_ms?: number; readonly signal?: AbortSignal }

/** Checks every organization that was not checked within `apart_ms`, and builds what it finds, the last day first. @throws what the database says */
export async function checkSegments(ground: Parts, { apart_ms = 0, signal }: How = {}): Promise<void> {
  const { worker } = ground.database
  for await (const org_id of organizationsWith(NEXT_COUNTED, worker, signal)) {
    const now = Date.now()
    const claimed = await worker.query(CLAIM, [org_id, new Date(now), new Date(now - apart_ms)])
    if (claimed.rows.length > 0 && (await checkOrganization(ground, org_id, signal)))
      await worker.query(FIRST_ENDED, [org_id, new Date()])
  }
}

/** Whether every day that differed was met: false where it ended early, or another process had the turn. */
async function checkOrganization(
  { database, secrets, log }: Parts,
  org_id: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const { worker } = database
  // Each of them would be read to be compared: the next check comes when fewer are left.
  if (await areManyWaiting(worker, org_id)) return false
  let isWhole = true
  const differingNow = await differingDays(worker, org_id)
  forgetOthers(org_id, differingNow)
  for (const { day, differing } of differingNow) {
    if (signal?.aborted) return false
    const began = performance.now()
    if (known.get(org_id)?.get(day) === differing) continue
    if (!(await rebuildDay(worker, org_id, day, hashOf(secrets, org_id), signal))) {
      isWhole = false
      continue
    }
    const left = (await differingDays(worker, org_id, day)).find(one => one.day === day)
    if (left?.differing === differing) await blameClicks({ worker, log }, org_id, day)
    // As long as it took: whoever waits for the database comes first.
    await sleep(performance.now() - began, undefined, { signal }).catch(() => {})
  }
  return isWhole
}

/** By organization, days whose clicks do not come to what the report counts, by how much; those that were found last in the end. */
const known = new Map<number, Map<string, string>>()
/** Of more organizations the first are forgotten: their days are built once more. */
const MOST_KNOWN = 1000

/** What is no longer so is not kept in mind. */
function forgetOthers(org_id: number, differing: readonly Differing[]): void {
  const days = known.get(org_id)
  if (days === undefined) return
  const still = new Set(differing.map(({ day }) => day))
  for (const day of days.keys()) if (!still.has(day)) days.delete(day)
  if (days.size === 0) known.delete(org_id)
}

function keepInMind(org_id: number, day: string, differing: string): void {
  const days = known.get(org_id) ?? new Map<string, string>()
  known.delete(org_id)
  known.set(org_id, days.set(day, differing))
  const [first] = known.keys()
  if (known.size > MOST_KNOWN && first !== undefined) known.delete(first)
}

/**
 * A day that was built and differs as it did: what clicks themselves do not come to is no fault of the segments, and is not to be built again and
 * again. But an earlier version may have changed as much once more, which only the clicks can say.
 */
async function blameClicks(
  { worker, log }: { worker: pg.Pool } & Pick<Parts, 'log'>,
  org_id: number,
  day: string,
): Promise<void> {
  const { rows } = await worker.query<{ differing: string }>(AT_FAULT, [org_id, day, ...idsOfDay(day)])
  const differing = rows[0]?.differing
  if (differing === undefined) return
  keepInMind(org_id, day, differing)
  log.warn(
    { org_id, day, differing },
    'the clicks of a day do not come to what the report counts; npm run reconcile says more',
  )
}

/** The first id of a UTC day, and that of the next. */
const idsOfDay = (day: string) => [firstIdAt(Date.parse(day)), firstIdAt(Date.parse(day) + DAY_MS)] as const

async function differingDays(pool: pg.Pool, org_id: number, from?: string): Promise<Differing[]> {
  const kept = dayOf(await clicksKeptFrom(pool))
  const { rows } = await pool.query<Differing>(DIFFERING, [org_id, from === undefined || from < kept ? kept : from])
  return rows
}

type Read = Fixed & ClickState & { readonly entries: Entry[] | null }

/**
 * Builds the segments of a UTC day anew from its clicks: each as it is, less what waits to be sealed of it, which is sealed as ever. So what waits
 * is not touched, and portions may be of several snapshots: sealing has to wait meanwhile. False where another process has the turn, the day's clicks
 * are no longer kept, or `signal` has ended it. @throws what the database says
 */
async function rebuildDay(
  pool: pg.Pool,
  org_id: number,
  day: string,
  hash: Hash,
  signal?: AbortSignal,
): Promise<boolean> {
  const [first, end] = idsOfDay(day)
  const over = new Error('the day is left as it was')
  try {
    const built = await inTurn(pool, org_id, async client => {
      await client.query(CLEAR, [org_id, day])
      for (let from: string | undefined = first; from !== undefined; ) {
        if (signal?.aborted) throw over
        const bound: { id: string } | undefined = (await client.query<{ id: string }>(BOUND, [org_id, from, end]))
          .rows[0]
        const { rows } = await client.query<Read>(READ, [org_id, from, bound?.id ?? end])
        const stated = rows.flatMap(read => statedRows(read, hash))
        await insertSegments(client, org_id, day, partsOf(net(stated)))
        from = bound?.id
      }
      // Of the partition it has read this transaction holds a lock, for which a drop waits: what has gone was given up before.
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

function statedRows({ entries, ...click }: Read, hash: Hash): Row[] {
  const is = signed(factOf(click, click, hash), 1)
  return entries === null ? [is] : [is, ...entries.flatMap(entry => rowsOf(click, entry, hash, -1))]
}
