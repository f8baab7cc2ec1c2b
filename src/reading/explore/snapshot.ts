/**
 * Reads in one statement everything that answers a question: the segments of its days, the sheets that are not sealed yet, and the report's
 * counters, to compare both with. Reads `segments`, `click_sheet`, `clicks`, `campaigns`, and what `negatedReport` reads.
 */
import type pg from 'pg'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import type { Window } from '../../contract/window.ts'
import { type Goals, readGoals } from '../../traffic/event-settings/goals.ts'
import { DAY_OF_ID } from '../segments/check.ts'
import { type DayRows, otherEntriesOf } from '../segments/entries.ts'
import type { VisitorHash } from '../segments/facts.ts'
import { negatedReport, SEGMENT_NUMBERS, segmentSums } from '../segments/numbers.ts'
import { SHEET_ENTRIES } from '../segments/seal.ts'
import type { CampaignTie } from './scan.ts'
import { readSpendMarks, type SpendMarks } from './spend.ts'
import { factsOfDays } from './standing.ts'
import {
  type ComparedDay,
  differingDaysOf,
  factsOfSheets,
  type StoredSheet,
  type SumsByDay,
  type UnsealedSheet,
} from './unsealed.ts'

/** `bytes`: the size of its body. */
export type Segment = { readonly id: string; readonly day: string; readonly rows: number; readonly bytes: number }

export type Snapshot = {
  readonly segments: readonly Segment[]
  /** The ids of the unsealed sheets whose facts belong to the answer: those of `known` that are still unsealed, and `fresh`. */
  readonly sheets: ReadonlySet<string>
  /** The other unsealed sheets that have clicks of the window's days. */
  readonly fresh: readonly UnsealedSheet[]
  /** Whether `fresh` has only some of them, because there are too many to read at once. */
  readonly isPart: boolean
  /** Days whose facts were read from their clicks. What segments and sheets have of these days does not belong to the answer. */
  readonly standing: readonly DayRows[]
  readonly ties: readonly CampaignTie[]
  /** The event types that count as conversions. */
  readonly goals: Goals
  /** UTC days with missing clicks, such as those that a process of an earlier version has just changed. Days read from their clicks are complete. */
  readonly incomplete_days: readonly string[]
  /** The visitors of the question's days before this one were anonymised; null: none were. */
  readonly emptied_before: string | null
  /** By UTC day, a mark of the spend booked for it; undefined if the question does not ask for cost. */
  readonly spend: SpendMarks | undefined
}

const ENTRIES = 'born, born_otherwise, changes, conversions_were, conversions'
const IN_DAYS = 'day >= $2::date and day <= $3::date'
const isWithin = (id: string) => `${id} >= $4::uuid and ${id} < $5::uuid`

// In one statement, so that a fact is either in a sheet or in a segment, never in both or neither.
const SNAPSHOT = `
  with unsealed as (
    select s.id, k.id is not null as is_known, ${ENTRIES}
    from click_sheet s left join unnest($6::uuid[]) as k (id) on k.id = s.id where s.org_id = $1
  ),
  asked as materialized (
    select *, ${SHEET_ENTRIES} as entries from unsealed
    where is_known
      or exists (select from unnest(born) as b where ${isWithin('b')})
      or exists (select from unnest(born_otherwise) as b where ${isWithin('b.id')})
      or exists (select from unnest(changes) as c where ${isWithin('c.id')})
  ),
  counted as (select coalesce(sum(entries), 0) <= $7 as are_few from asked),
  fresh as (select *, sum(entries) over (order by id) - entries as before from asked where not is_known),
  sealed as (
    select json_agg(json_build_object('id', id, 'day', day, 'rows', rows, 'bytes', octet_length(body)) order by day, id) as segments,
      (max(day) filter (where is_emptied) + 1)::text as emptied_before
    from segments where org_id = $1 and ${IN_DAYS}
  ),
  compared as (
    select json_agg(d) as compared from (
      select day::text as day, ${SEGMENT_NUMBERS.map(name => `sum(${name})::text as ${name}`).join(', ')}
      from (${segmentSums(IN_DAYS)} union all ${negatedReport(IN_DAYS)}) s group by day
    ) d
  )
  select segments, emptied_before, compared,
    case when are_few then (select string_agg(id::text, ',') from asked where is_known) end as known,
    case when are_few then (
      select json_agg(json_build_object('id', id, 'born', array_to_string(born, ','), 'entries', (
        select json_agg(e) from (${otherEntriesOf(`(select ${ENTRIES.replaceAll(/\w+/g, 'a.$&')}) as one`)}) e
      ))) from fresh a where before < $8
    ) end as fresh,
    are_few and exists (select from fresh where before >= $8) as is_part,
    case when not are_few then (
      select json_agg(distinct ${DAY_OF_ID}) from (select id from (select ${ENTRIES} from asked) sheets, lateral (
        select b as id from unnest(born) as b
        union all select b.id from unnest(born_otherwise) as b
        union all select c.id from unnest(changes) as c
      ) entries where ${isWithin('id')}) c
    ) end as left_out_days
  from sealed, counted, compared`

type SnapshotRow = {
  segments: Segment[] | null
  emptied_before: string | null
  compared: ComparedDay[] | null
  known: string | null
  fresh: StoredSheet[] | null
  is_part: boolean
  /** Days with unsealed entries, if there are too many entries to read. */
  left_out_days: string[] | null
}

export type SnapshotOptions = {
  readonly hash: VisitorHash
  readonly wantsTies: boolean
  readonly wantsSpend: boolean
  readonly most_waiting: number
  /** The sheets whose facts need not be read, by id. */
  readonly known: ReadonlyMap<string, { readonly sums: SumsByDay }>
  /** About how many new clicks and changes of other sheets are read at once. */
  readonly most_fresh: number
}

/** The facts of a window's clicks, and what else the question asks for. */
export async function readSnapshot(
  reads: Pick<pg.Pool, 'query'>,
  org_id: number,
  { from, to }: Window,
  { hash, wantsTies, wantsSpend, most_waiting, known, most_fresh }: SnapshotOptions,
): Promise<Snapshot> {
  const days = { first: dayOf(from), last: dayOf(to) }
  // Whole days, because the clicks of a day share what was booked for it.
  const ids = [firstIdAt(Date.parse(days.first)), firstIdAt(Date.parse(days.last) + DAY_MS)]
  const [{ rows }, spend, ties, goals] = await Promise.all([
    reads.query<SnapshotRow>(SNAPSHOT, [
      org_id,
      days.first,
      days.last,
      ...ids,
      [...known.keys()],
      most_waiting,
      most_fresh,
    ]),
    wantsSpend ? readSpendMarks(reads, org_id, days) : undefined,
    wantsTies ? readTies(reads, org_id) : [],
    readGoals(reads, org_id),
  ])
  const [row] = rows
  const fresh = await factsOfSheets(reads, org_id, row?.fresh ?? [], hash)
  const still = row?.known?.split(',') ?? []
  const sums = [...still.flatMap(id => known.get(id)?.sums ?? []), ...fresh.map(sheet => sheet.sums)]
  const isPart = row?.is_part === true
  const differing = isPart
    ? []
    : differingDaysOf(row?.compared ?? [], sums, day => day >= days.first && day <= days.last)
  const incomplete = [...new Set([...differing, ...(row?.left_out_days ?? [])])].sort()
  const factsByDay = await factsOfDays(reads, org_id, incomplete, hash)
  return {
    segments: (row?.segments ?? []).filter(({ day }) => !factsByDay.has(day)),
    incomplete_days: incomplete.filter(day => !factsByDay.has(day)),
    emptied_before: row?.emptied_before ?? null,
    sheets: new Set([...still, ...fresh.map(({ id }) => id)]),
    fresh,
    isPart,
    standing: [...factsByDay].map(([day, rows]) => ({ day, rows })),
    ties,
    goals,
    spend,
  }
}

async function readTies(reads: Pick<pg.Pool, 'query'>, org_id: number): Promise<CampaignTie[]> {
  const { rows } = await reads.query<CampaignTie>(
    `select id as campaign, traffic_source_id as source, destination ->> 'funnel_id' as funnel from campaigns
    where org_id = $1 and (traffic_source_id is not null or destination ->> 'funnel_id' is not null)`,
    [org_id],
  )
  return rows
}
