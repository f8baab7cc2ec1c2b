/** What a question is answered from, as one statement sees it: the segments of its days, and what is not sealed yet. Reads `segments` and `campaigns`. */
import type pg from 'pg'
import { dayOf } from '../../contract/days.ts'
import type { Window } from '../../contract/window.ts'
import type { Segment } from './files.ts'
import type { CampaignTie } from './scan.ts'

export type Snapshot = { readonly segments: readonly Segment[]; readonly ties: readonly CampaignTie[] }

/** The segments of the days that a window touches, and what campaigns lead to and come from now. */
export async function readSnapshot(
  reads: Pick<pg.Pool, 'query'>,
  org_id: number,
  { from, to }: Window,
  wantsTies: boolean,
): Promise<Snapshot> {
  const { rows } = await reads.query<Segment>(
    'select id, day, rows from segments where org_id = $1 and day >= $2 and day <= $3 order by day, id',
    [org_id, dayOf(from), dayOf(to)],
  )
  return { segments: rows, ties: wantsTies ? await readTies(reads, org_id) : [] }
}

async function readTies(reads: Pick<pg.Pool, 'query'>, org_id: number): Promise<CampaignTie[]> {
  const { rows } = await reads.query<CampaignTie>(
    `select id as campaign, traffic_source_id as source, destination ->> 'funnel_id' as funnel from campaigns
    where org_id = $1 and (traffic_source_id is not null or destination ->> 'funnel_id' is not null)`,
    [org_id],
  )
  return rows
}
