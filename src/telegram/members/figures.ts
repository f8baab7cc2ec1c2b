/** The report totals of all channels in one answer, for the list of channels and the overview. Owns no table. */
import type { Call } from '../../contract/endpoint.ts'
import { toWireId } from '../../contract/ids.ts'
import type { Context } from '../../ground/room.ts'
import { fromMillionths, toMillionths } from '../../money/billing/money.ts'
import { reportOfCampaigns } from '../../reading/reports/report.ts'
import type * as api from './api.ts'
import { costPerHead, reportWindow } from './report.ts'

/** The totals of each channel. Refuses `invalid_window`, `window_too_wide`. */
export async function readChannelFigures(
  { database, actor }: Context<typeof api.readChannelFigures>,
  { query }: Call<typeof api.readChannelFigures>,
): Promise<{ rows: api.ChannelFigures[] }> {
  const { org_id } = actor
  const { window } = reportWindow(query)
  const between = [org_id, new Date(window.from).toISOString(), new Date(window.to).toISOString()] as const
  const { rows: channels } = await database.reads.query<ChannelCounts>(COUNTS, [...between])
  const { rows: pairs } = await database.reads.query<CampaignOfChannel>(CAMPAIGNS, [...between])
  const campaigns = [...new Set(pairs.map(({ campaign_id }) => campaign_id))]
  const report = await reportOfCampaigns({ database }, org_id, { dimension: 'campaign', window, campaigns })
  const byCampaign = new Map(report.rows.map(row => [row.key, row]))
  const byChannel = Map.groupBy(pairs, ({ channel_id }) => channel_id)
  return {
    rows: channels.map(counts => {
      const own = (byChannel.get(counts.key) ?? []).flatMap(
        ({ campaign_id }) => byCampaign.get(toWireId(campaign_id)) ?? [],
      )
      // A truncated report may lack campaigns of the channel, so its cost is unknown.
      const cost = report.truncated ? null : costOf(own)
      return { ...figuresOf(counts, cost), clicks: own.reduce((sum, { clicks }) => sum + clicks, 0) }
    }),
  }
}

type ChannelCounts = Readonly<
  Record<'requests' | 'joins' | 'organic' | 'left' | 'matured' | 'stayed' | 'link' | 'person' | 'campaign', number>
> & { readonly key: string }

const COUNTS = `
  select c.id as key, coalesce(r.requests, 0) as requests, coalesce(m.joins, 0) as joins, coalesce(m.organic, 0) as organic,
    coalesce(m."left", 0) as "left", coalesce(m.matured, 0) as matured, coalesce(m.stayed, 0) as stayed,
    coalesce(m.link, 0) as link, coalesce(m.person, 0) as person, coalesce(m.campaign, 0) as campaign
  from channels c
  left join (
    select m.channel_id, count(m.click_id)::int as joins, count(*) filter (where m.click_id is null)::int as organic,
      count(*) filter (where m.click_id is not null and m.state <> 'in')::int as "left",
      count(*) filter (where m.click_id is not null and e.id is null and m.joined_at <= now() - interval '7 days')::int as matured,
      count(*) filter (where m.click_id is not null and e.id is null and m.joined_at <= now() - interval '7 days'
        and (m.state = 'in' or m.left_at > m.joined_at + interval '7 days'))::int as stayed,
      count(*) filter (where m.certainty = 'link')::int as link, count(*) filter (where m.certainty = 'person')::int as person,
      count(*) filter (where m.certainty = 'campaign')::int as campaign
    from channel_members m
    join channels c on c.org_id = m.org_id and c.id = m.channel_id
    left join events e on e.org_id = m.org_id and e.id = m.event_id and e.created_at < c.created_at
    where m.org_id = $1 and c.org_id = $1 and c.deleted_at is null and m.joined_at >= $2 and m.joined_at <= $3
    group by m.channel_id
  ) m on m.channel_id = c.id
  left join (
    select channel_id, count(*)::int as requests from join_requests
    where org_id = $1 and asked_at >= $2 and asked_at <= $3
    group by channel_id
  ) r on r.channel_id = c.id
  where c.org_id = $1 and c.deleted_at is null
  order by c.id desc`

type CampaignOfChannel = { readonly channel_id: string; readonly campaign_id: string }

/** The campaigns that lead into a channel now or brought joins or requests in the window. */
const CAMPAIGNS = `
  select (destination->'channel'->>'channel_id')::uuid as channel_id, id as campaign_id from campaigns
  where org_id = $1 and destination->'channel'->>'channel_id' is not null
  union
  select channel_id, campaign_id from channel_members
  where org_id = $1 and joined_at >= $2 and joined_at <= $3 and campaign_id is not null
  union
  select channel_id, campaign_id from join_requests
  where org_id = $1 and asked_at >= $2 and asked_at <= $3 and campaign_id is not null`

const costOf = (rows: readonly { readonly cost?: string | undefined }[]): string => {
  const sum = rows.reduce((all, { cost = '0' }) => all + toMillionths(cost), 0n)
  const [whole, fraction = ''] = fromMillionths(sum).split('.')
  return `${whole}.${fraction.padEnd(2, '0')}`
}

function figuresOf({ key, matured, stayed, link, person, campaign, ...counts }: ChannelCounts, cost: string | null) {
  const { joins, organic } = counts
  return {
    key,
    ...counts,
    stays: { 7: { matured, stayed } },
    cost,
    cost_per_join: costPerHead(cost, 1, joins),
    cost_per_stayer: costPerHead(cost, matured, joins * stayed),
    certainty: { link, person, campaign, organic },
  }
}
