/**
 * Reads in one statement everything that answers a question: the segments of its days, and the sheets that are not sealed yet. Reads `segments`,
 * `click_sheet`, `clicks` and `campaigns`.
 */
import type pg from 'pg'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import type { Window } from '../../contract/window.ts'
import { type Goals, readGoals } from '../../traffic/event-settings/goals.ts'
import { DAY_OF_ID, DIFFERING } from '../segments/check.ts'
import { entriesByClick, type DayRows, factRowsByDay, otherEntriesOf, type SheetEntry } from '../segments/entries.ts'
import type { VisitorHash } from '../segments/facts.ts'
import { readFixed } from '../segments/seal.ts'
import type { CampaignTie } from './scan.ts'
import { readSpendMarks, type SpendMarks } from './spend.ts'
import { factsOfDays } from './standing.ts'

export type Segment = { readonly id: string; readonly day: string; readonly rows: number }

export type Snapshot = {
  readonly segments: readonly Segment[]
  /** Facts that are in no segment, by day. */
  readonly tail: readonly DayRows[]
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

// In one statement, so that a fact is either in a sheet or in a segment, never in both or neither.
const SNAPSHOT = `
  with sheets as (select born, born_otherwise, changes, conversions_were, conversions from click_sheet where org_id = $1),
  usual as (select id from sheets, unnest(born) as id where id >= $4 and id < $5),
  others as (select * from (${otherEntriesOf('sheets')}) entries where id >= $4 and id < $5),
  counted as materialized (select (select count(*) from usual) + (select count(*) from others) <= $6 as are_few),
  sealed as (
    select json_agg(json_build_object('id', id, 'day', day, 'rows', rows) order by day, id) as segments,
      (max(day) filter (where is_emptied) + 1)::text as emptied_before
    from segments where org_id = $1 and day >= $2::date and day <= $3::date
  ),
  differing as (select json_agg(d.day order by d.day) as days from (${DIFFERING}) d where d.day <= $3::date::text)
  select segments, emptied_before, days,
    case when are_few then (select string_agg(id::text, ',') from usual) end as born,
    case when are_few then (select json_agg(others) from others) end as entries,
    case when not are_few then (
      select json_agg(distinct ${DAY_OF_ID}) from (select id from usual union all select id from others) c
    ) end as left_out_days
  from sealed, counted, differing`

type SnapshotRow = {
  segments: Segment[] | null
  emptied_before: string | null
  born: string | null
  entries: SheetEntry[] | null
  /** Days with unsealed entries, if there are too many entries to read. */
  left_out_days: string[] | null
  days: string[] | null
}

export type SnapshotOptions = {
  readonly hash: VisitorHash
  readonly wantsTies: boolean
  readonly wantsSpend: boolean
  readonly most_waiting: number
}

/** The facts of a window's clicks, and what else the question asks for. */
export async function readSnapshot(
  reads: Pick<pg.Pool, 'query'>,
  org_id: number,
  { from, to }: Window,
  { hash, wantsTies, wantsSpend, most_waiting }: SnapshotOptions,
): Promise<Snapshot> {
  const days = { first: dayOf(from), last: dayOf(to) }
  // Whole days, because the clicks of a day share what was booked for it.
  const ids = [firstIdAt(Date.parse(days.first)), firstIdAt(Date.parse(days.last) + DAY_MS)]
  const [{ rows }, spend, ties, goals] = await Promise.all([
    reads.query<SnapshotRow>(SNAPSHOT, [org_id, days.first, days.last, ...ids, most_waiting]),
    wantsSpend ? readSpendMarks(reads, org_id, days) : undefined,
    wantsTies ? readTies(reads, org_id) : [],
    readGoals(reads, org_id),
  ])
  const { segments, emptied_before = null, born = null, entries = null, left_out_days, days: differing } = rows[0] ?? {}
  const incomplete = [...new Set([...(differing ?? []), ...(left_out_days ?? [])])].sort()
  const factsByDay = await factsOfDays(reads, org_id, incomplete, hash)
  const isSealed = ({ day }: { day: string }) => !factsByDay.has(day)
  const waiting = entriesByClick({ born, entries })
  const clicks = await readFixed(reads, org_id, [...waiting.keys()])
  const tail = await factRowsByDay(waiting, clicks, hash)
  return {
    segments: (segments ?? []).filter(isSealed),
    incomplete_days: incomplete.filter(day => !factsByDay.has(day)),
    emptied_before,
    tail: [...tail.filter(isSealed), ...[...factsByDay].map(([day, rows]) => ({ day, rows }))],
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
