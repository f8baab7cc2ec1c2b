/**
 * The report of a channel: joins, stayers and cost. Owns no table. Reads `channel_members`, `join_requests`, `events`, `clicks` and `campaigns`. Clicks and
 * cost come from the main report, so that the two always agree.
 */
import type pg from 'pg'
import type { Call } from '../../contract/endpoint.ts'
import { toWireId } from '../../contract/ids.ts'
import { DAY_MS } from '../../contract/days.ts'
import { momentOf, possible, type Window, windowBetween } from '../../contract/window.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { fromMillionths, toMillionths } from '../../money/billing/money.ts'
import { reportOfCampaigns } from '../../reading/reports/report.ts'
import { liveChannel } from '../channels/rows.ts'
import * as api from './api.ts'

type ReportFigures = api.ChannelReport['totals']
type ReportRow = api.ChannelReport['rows'][number]

/** The report of a channel. Refuses `object_not_found`, `invalid_window`, `window_too_wide`. */
export async function readChannelReport(
  { db, database, actor }: Context<typeof api.readChannelReport>,
  { params, query }: Call<typeof api.readChannelReport>,
): Promise<api.ChannelReport> {
  const { org_id } = actor
  const { dimension } = query
  const channel = await liveChannel(db, org_id, idOf(params.id))
  const { window, date_from, date_to } = reportWindow(query)
  const question = { org_id, channel_id: channel.id, since: channel.created_at, dimension, window }
  const people = await countPeople(database.reads, question)
  const campaigns = await readCampaigns(database.reads, question)
  const traffic = await readTraffic({ database }, org_id, [...campaigns.keys()].map(idOf), question)
  const rows = reportRows(people.rows, traffic, { dimension, campaigns })
  return {
    dimension,
    date_from,
    date_to,
    rows: rows.slice(0, MOST_ROWS),
    totals: figuresOf(people.total, traffic.total),
    certainty: people.certainty,
    not_broken_down: traffic.notBrokenDown,
    truncated: traffic.isTruncated || rows.length > MOST_ROWS,
  }
}

const MOST_ROWS = 500

type ChannelReportQuestion = {
  readonly org_id: number
  readonly channel_id: string
  /** When the channel was added: departures after earlier joins are unknown. */
  readonly since: string
  readonly dimension: api.ChannelReportDimension
  readonly window: Window
}

/** The default window, including its last day. */
const USUAL_DAYS = 30

type Bounds = { readonly date_from: string; readonly date_to: string }

/** The window from the first millisecond of the first day to the last of the last day. A time is used as it is. */
export function reportWindow({ date_from, date_to }: { [name in keyof Bounds]?: string | undefined }): Bounds & {
  window: Window
} {
  const last = date_to ?? new Date().toISOString().slice(0, 10)
  const to = momentOf(last.length > 10 ? last : `${last}T23:59:59.999Z`, 'date_to')
  const first = date_from ?? new Date(to.ms - (USUAL_DAYS - 1) * DAY_MS).toISOString().slice(0, 10)
  return { window: possible(windowBetween(momentOf(first, 'date_from'), to)), date_from: first, date_to: last }
}

type PeopleCounts = {
  key: string
  requests: number
  joins: number
  organic: number
  left: number
} & { [Days in (typeof api.STAYS)[number] as `matured_${Days}` | `stayed_${Days}`]: number }

const KEYS: Record<api.ChannelReportDimension, { key: string; ofRequest: string; isOfClick: boolean }> = {
  day: {
    key: `to_char(m.joined_at at time zone 'UTC', 'YYYY-MM-DD')`,
    ofRequest: `to_char(m.asked_at at time zone 'UTC', 'YYYY-MM-DD')`,
    isOfClick: false,
  },
  campaign: {
    key: `coalesce(m.campaign_id::text, '')`,
    ofRequest: `coalesce(m.campaign_id::text, '')`,
    isOfClick: false,
  },
  sub1: { key: `coalesce(k.sub1, '')`, ofRequest: `coalesce(k.sub1, '')`, isOfClick: true },
  geo: { key: `coalesce(k.geo, '')`, ofRequest: `coalesce(k.geo, '')`, isOfClick: true },
  certainty: {
    key: `coalesce(m.certainty, 'organic')`,
    ofRequest: `coalesce(m.certainty, 'organic')`,
    isOfClick: false,
  },
}

/** Joins and requests of the window, by key and in total. A join that is not attributed yet counts as organic. */
async function countPeople(reads: pg.Pool, { org_id, channel_id, since, dimension, window }: ChannelReportQuestion) {
  const { key, ofRequest, isOfClick } = KEYS[dimension]
  const clicks = isOfClick
    ? 'left join lateral (select sub1, geo from clicks where org_id = $1 and id = m.click_id limit 1) k on true'
    : ''
  const isOrganic = 'm.click_id is null'
  // Only the row of the certainty `organic` counts joins without a click. Every other figure counts joins with a click.
  const isCounted = dimension === 'certainty' ? 'true' : `not (${isOrganic})`
  const stays = api.STAYS.map(days => {
    const matured = `${isCounted} and e.id is null and m.joined_at <= now() - interval '${days} days'`
    const stayed = `(m.state = 'in' or m.left_at > m.joined_at + interval '${days} days')`
    return `count(*) filter (where ${matured})::int as matured_${days}, count(*) filter (where ${matured} and ${stayed})::int as stayed_${days}`
  })
  const none = api.STAYS.map(days => `0 as matured_${days}, 0 as stayed_${days}`)
  const names = [
    'requests',
    'joins',
    'organic',
    'left',
    ...api.STAYS.flatMap(days => [`matured_${days}`, `stayed_${days}`]),
  ]
  const { rows } = await reads.query<PeopleCounts>(
    `select key, ${names.map(name => `sum("${name}")::int as "${name}"`).join(', ')} from (
      select ${key} as key, 0 as requests, count(*) filter (where ${isCounted})::int as joins,
        count(*) filter (where ${isOrganic})::int as organic,
        count(*) filter (where ${isCounted} and m.state <> 'in')::int as "left", ${stays.join(', ')}
      from channel_members m ${clicks}
      left join events e on e.org_id = $1 and e.id = m.event_id and e.created_at < $5
      where m.org_id = $1 and m.channel_id = $2 and m.joined_at >= $3 and m.joined_at <= $4
      group by 1
      union all
      select ${ofRequest}, count(*)::int, 0, 0, 0, ${none.join(', ')}
      from join_requests m ${clicks}
      where m.org_id = $1 and m.channel_id = $2 and m.asked_at >= $3 and m.asked_at <= $4
      group by 1
    ) counted group by key`,
    [org_id, channel_id, new Date(window.from).toISOString(), new Date(window.to).toISOString(), since],
  )
  const { rows: certainties } = await reads.query<{ certainty: api.Certainty; joins: number }>(
    `select coalesce(certainty, 'organic') as certainty, count(*)::int as joins
    from channel_members
    where org_id = $1 and channel_id = $2 and joined_at >= $3 and joined_at <= $4
    group by 1`,
    [org_id, channel_id, new Date(window.from).toISOString(), new Date(window.to).toISOString()],
  )
  const joins = Object.fromEntries(certainties.map(row => [row.certainty, row.joins]))
  const certainty = { link: 0, person: 0, campaign: 0, organic: 0, ...joins }
  const withClick = dimension === 'certainty' ? rows.filter(row => row.key !== 'organic') : rows
  const sum = (name: keyof PeopleCounts, of: readonly PeopleCounts[]) =>
    of.reduce((all, row) => all + Number(row[name]), 0)
  const total = {
    ...Object.fromEntries(names.map(name => [name, sum(name as keyof PeopleCounts, withClick)])),
    requests: sum('requests', rows),
    organic: sum('organic', rows),
    key: '',
  } as PeopleCounts
  return { rows, total, certainty }
}

/** The names, by id, of campaigns that lead into the channel or brought joins or requests in the window. */
async function readCampaigns(
  reads: pg.Pool,
  { org_id, channel_id, window }: ChannelReportQuestion,
): Promise<Map<string, string>> {
  const { rows } = await reads.query<{ id: string; name: string }>(
    `select id, name from campaigns
    where org_id = $1 and (destination->'channel'->>'channel_id' = $2::text
      or id in (
        select campaign_id from channel_members
        where org_id = $1 and channel_id = $2::uuid and joined_at >= $3 and joined_at <= $4 and campaign_id is not null)
      or id in (
        select campaign_id from join_requests
        where org_id = $1 and channel_id = $2::uuid and asked_at >= $3 and asked_at <= $4 and campaign_id is not null))`,
    [org_id, channel_id, new Date(window.from).toISOString(), new Date(window.to).toISOString()],
  )
  return new Map(rows.map(({ id, name }) => [toWireId(id), name]))
}

type ClicksAndCost = { readonly clicks: number | null; readonly cost: string | null; readonly label?: string }
type Traffic = {
  readonly byKey: ReadonlyMap<string, ClicksAndCost>
  readonly total: ClicksAndCost
  readonly notBrokenDown: string | null
  readonly isTruncated: boolean
}

/** Clicks and cost of the campaigns, from the main report. */
async function readTraffic(
  ground: Parameters<typeof reportOfCampaigns>[0],
  org_id: number,
  campaigns: readonly string[],
  { dimension, window }: ChannelReportQuestion,
): Promise<Traffic> {
  const byCampaign = await reportOfCampaigns(ground, org_id, { dimension: 'campaign', window, campaigns })
  const total = { clicks: byCampaign.totals.clicks, cost: byCampaign.totals.cost ?? null }
  if (dimension === 'certainty') return { byKey: new Map(), total, notBrokenDown: null, isTruncated: false }
  const report =
    dimension === 'campaign' ? byCampaign : await reportOfCampaigns(ground, org_id, { dimension, window, campaigns })
  const byKey = new Map(report.rows.map(({ key, label, clicks, cost = null }) => [key, { label, clicks, cost }]))
  return { byKey, total, notBrokenDown: report.not_broken_down?.cost ?? null, isTruncated: report.truncated }
}

type RowNames = Pick<ChannelReportQuestion, 'dimension'> & { readonly campaigns: ReadonlyMap<string, string> }

const ORDER: readonly string[] = api.CERTAINTIES

/** A row for each key that has people or clicks: days by date, certainties from the surest, all others by joins. */
function reportRows(
  counts: readonly PeopleCounts[],
  { byKey }: Traffic,
  { dimension, campaigns }: RowNames,
): ReportRow[] {
  const people = new Map(
    counts.map(row => [dimension === 'campaign' && row.key !== '' ? toWireId(row.key) : row.key, row]),
  )
  const keys = new Set([...byKey.keys(), ...people.keys()])
  const nothing = dimension === 'certainty' ? { clicks: null, cost: null } : { clicks: 0, cost: costless(dimension) }
  const rows = [...keys].map(key => {
    const traffic = byKey.get(key)
    const label = traffic?.label ?? campaigns.get(key) ?? (key === '' ? '(none)' : key)
    return { key, label, ...figuresOf(people.get(key), traffic ?? nothing) }
  })
  if (dimension === 'day') return rows.toSorted((a, b) => (a.key < b.key ? -1 : 1))
  if (dimension === 'certainty') return rows.toSorted((a, b) => ORDER.indexOf(a.key) - ORDER.indexOf(b.key))
  return rows.toSorted((a, b) => b.joins - a.joins || (b.clicks ?? 0) - (a.clicks ?? 0) || (a.key < b.key ? -1 : 1))
}

const costless = (dimension: api.ChannelReportDimension) => (dimension === 'geo' ? null : '0.00')

function figuresOf(counts: PeopleCounts | undefined, { clicks, cost }: ClicksAndCost): ReportFigures {
  const of = (name: Exclude<keyof PeopleCounts, 'key'>) => counts?.[name] ?? 0
  const joins = of('joins')
  const stays = { 1: stayOf(counts, 1), 7: stayOf(counts, 7), 30: stayOf(counts, 30) }
  const { matured, stayed } = stays[7]
  return {
    clicks,
    requests: of('requests'),
    joins,
    organic: of('organic'),
    left: of('left'),
    stays,
    cost,
    cost_per_join: costPerHead(cost, 1, joins),
    cost_per_stayer: costPerHead(cost, matured, joins * stayed),
  }
}

const stayOf = (counts: PeopleCounts | undefined, days: (typeof api.STAYS)[number]) => ({
  matured: counts?.[`matured_${days}`] ?? 0,
  stayed: counts?.[`stayed_${days}`] ?? 0,
})

/** `cost` × `times` / `heads`, to four places, half up; null without heads or cost. */
export function costPerHead(cost: string | null, times: number, heads: number): string | null {
  if (cost === null || heads === 0 || toMillionths(cost) === 0n) return null
  const tenThousandths = (toMillionths(cost) * BigInt(times) * 2n + 100n * BigInt(heads)) / (200n * BigInt(heads))
  return fromMillionths(tenThousandths * 100n)
}
