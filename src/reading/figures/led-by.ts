/** How many clicks a campaign, a destination, an offer or a landing led lately. Owns no table; reads the report's counters and clicks. */
import { DAY_MS } from '../../contract/days.ts'
import type { HistoryKind } from '../../contract/history.ts'
import type { Value } from '../../ground/db/statement.ts'
import type { Ground } from '../../ground/room.ts'
import { readGoals } from '../../traffic/event-settings/goals.ts'
import { coverOf } from '../reports/cover.ts'
import { sourcesOf } from '../reports/sources.ts'
import * as api from './api.ts'
import { countLandings } from './landings.ts'

export type LeadingKind = Extract<HistoryKind, 'campaign' | 'offer' | 'landing' | 'funnel' | 'click_flow'>

/**
 * The tracked clicks of the last `days` UTC days, today included, that the object led: those of the campaign, of the campaigns that name the funnel or
 * the flow now, those credited to the offer, or those of the landing. Null if the landing's clicks are too many to count.
 */
export async function clicksLedBy(
  { reads }: Ground['database'],
  org_id: number,
  { kind, id, days }: { readonly kind: LeadingKind; readonly id: string; readonly days: number },
): Promise<number | null> {
  const now = Date.now()
  // Whole days, so that only counters are read.
  const window = { from: (Math.floor(now / DAY_MS) - days + 1) * DAY_MS, to: now }
  if (kind === 'landing') {
    const landings = await countLandings(reads, org_id, window, await readGoals(reads, org_id), api.MOST_CLICKS_READ)
    return landings === undefined ? null : Number(landings.find(({ key }) => key === id)?.['clicks'] ?? 0)
  }
  const values: Value[] = [org_id]
  const put = (value: Value) => `$${values.push(value)}`
  const ofCampaigns = kind === 'offer' ? null : await campaignsOf(reads, org_id, kind, id)
  if (ofCampaigns?.length === 0) return 0
  const slice = { campaigns: ofCampaigns, cover: coverOf(window, now), verdicts: false } as const
  const sources = sourcesOf({ ...slice, dimension: kind === 'offer' ? 'offer' : 'campaign' }, put)
  const isMeant = kind === 'offer' ? ` where key = ${put(id)}` : ''
  const { rows } = await reads.query<{ clicks: string | null }>(
    `select sum(clicks)::bigint as clicks from (${sources}) counted${isMeant}`,
    values,
  )
  return Number(rows[0]?.clicks ?? 0)
}

async function campaignsOf(
  reads: Ground['database']['reads'],
  org_id: number,
  kind: 'campaign' | 'funnel' | 'click_flow',
  id: string,
): Promise<string[]> {
  if (kind === 'campaign') return [id]
  const { rows } = await reads.query<{ id: string }>(
    `select id from campaigns where org_id = $1 and deleted_at is null and destination->>'type' = $2 and destination->>$3 = $4`,
    [org_id, kind, `${kind}_id`, id],
  )
  return rows.map(row => row.id)
}
