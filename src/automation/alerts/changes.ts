/** Changes of the history that a fall came after. Owns no table. Reads `history` and `campaigns`. */
import type pg from 'pg'
import type { AlertCause } from '../../contract/alerts.ts'
import { HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import { firstIdAt, toWireId } from '../../contract/ids.ts'

/** Clicks or conversions of a minute of this week, and how many were expected. `minute` counts from the beginning of the fall. */
type MinuteCounts = { readonly minute: number; readonly seen: number; readonly expected: number }

/** Changes so long before the fall may have caused it. */
const BEFORE_MS = 2 * HOUR_MS

// $2 the campaign, $3 offers and landings of its clicks, $4 and $5 the bounds of the ids. An act on many values of a campaign is one change.
const CHANGES = `
  select (array_agg(h.id order by h.id))[1] as id, (extract(epoch from min(h.created_at)) * 1000)::float8 as at_ms, h.kind, h.change,
    min(h.object_name) || case when count(*) > 1 then ' and ' || count(*) - 1 || ' more' else '' end as name,
    array(select distinct f ->> 'name' from json_array_elements((array_agg(h.fields order by h.id))[1]) f order by 1) as fields
  from history h
  left join campaigns c on c.org_id = $1 and c.id = $2::uuid
  where h.org_id = $1 and h.id >= $4::uuid and h.id < $5::uuid and h.only_for is null
    and (h.kind = 'left_out' or h.change <> 'created' and h.kind in ('campaign', 'offer', 'landing', 'funnel', 'click_flow', 'split_test'))
    and (h.object_id = $2::uuid or h.object_id = any($3::uuid[])
      or h.object_id::text in (c.destination ->> 'offer_id', c.destination ->> 'funnel_id', c.destination ->> 'click_flow_id'))
  group by h.act_id, h.kind, h.object_id, h.change
  order by 1 desc limit 20`

type ChangeRow = { id: string; at_ms: number; kind: string; change: string; name: string; fields: string[] }

const KINDS: Readonly<Record<string, string>> = { click_flow: 'Click flow', split_test: 'Split test' }
const LEFT_OUT: Readonly<Record<string, string>> = { created: 'was left out', deleted: 'was let in again' }

/** `Offer “Slots” was changed (url) at 2026-11-20 14:05 UTC`, `“sub1 = zone-7 and 3 more” was left out at …`. */
function inWords({ kind, change, name, fields, at_ms }: ChangeRow): string {
  const at = `at ${new Date(at_ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
  const left = kind === 'left_out' ? LEFT_OUT[change] : undefined
  if (left !== undefined) return `“${name}” ${left} ${at}`
  const what = KINDS[kind] ?? `${kind.charAt(0).toUpperCase()}${kind.slice(1).replaceAll('_', '-')}`
  const of = change === 'changed' && fields.length > 0 ? ` (${fields.join(', ')})` : ''
  return `${what} “${name}” was ${change}${of} ${at}`
}

/**
 * The changes of the campaign and of where its clicks lead, from two hours before the fall on. `share` is the part of the fall that came after the
 * change; `value` the row of the history.
 */
export async function changesBefore(
  pool: Pick<pg.Pool, 'query'>,
  org_id: number,
  fall: {
    readonly campaign_id: string
    /** Offers and landings. */
    readonly objects: readonly string[]
    readonly from_ms: number
    readonly to_ms: number
    readonly minutes: readonly MinuteCounts[]
  },
): Promise<AlertCause[]> {
  const { campaign_id, objects, from_ms, to_ms, minutes } = fall
  const bounds = [firstIdAt(from_ms - BEFORE_MS), firstIdAt(to_ms)]
  const { rows } = await pool.query<ChangeRow>(CHANGES, [org_id, campaign_id, objects, ...bounds])
  const missingFrom = (minute: number) =>
    minutes.reduce((sum, at) => (at.minute >= minute ? sum + at.expected - at.seen : sum), 0)
  const all = missingFrom(0)
  return rows.map(row => ({
    dimension: 'change',
    value: toWireId(row.id),
    label: inWords(row),
    share: Math.min(1, missingFrom(Math.floor((row.at_ms - from_ms) / MINUTE_MS)) / all),
  }))
}
