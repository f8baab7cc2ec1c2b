/**
 * What came into a channel, who stayed and what that cost. Owns no table. Reads `channel_members`, `join_requests`, `events`, `clicks` and `campaigns`;
 * clicks and cost are the report's own, of the campaigns that lead here, so that the two say the same of the same money.
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

type Figures = api.ChannelReport['totals']
type Row = api.ChannelReport['rows'][number]

/** The figures of a channel. Refuses `object_not_found`, `invalid_window`, `window_too_wide`. */
export async function readChannelReport(
  { db, database, actor }: Context<typeof api.readChannelReport>,
  { params, query }: Call<typeof api.readChannelReport>,
): Promise<api.ChannelReport> {
  const { org_id } = actor
  const { dimension } = query
  const channel = await liveChannel(db, org_id, idOf(params.id))
  const { window, date_from, date_to } = reportWindow(query)
  const asked: Asked = { org_id, channel_id: channel.id, since: channel.created_at, dimension, window }
  const people = await peopleOf(database.reads, asked)
  const campaigns = await campaignsInto(database.reads, asked)
  const money = await spentOn({ database }, org_id, [...campaigns.keys()].map(idOf), asked)
  const rows = merged(people.rows, money, { dimension, campaigns })
  return {
    dimension,
    date_from,
    date_to,
    rows: rows.slice(0, MOST_ROWS),
    totals: figuresOf(people.total, money.total),
    certainty: people.certainty,
    not_broken_down: money.apart,
    truncated: money.isCut || rows.length > MOST_ROWS,
  }
}

const MOST_ROWS = 500

type Asked = {
  readonly org_id: number
  readonly channel_id: string
  /** Whose join was recorded before was not seen leaving. */
  readonly since: string
  readonly dimension: api.ReportDimension
  readonly window: Window
}

/** Without a beginning so many days, with the last. */
const USUAL_DAYS = 30

type Bounds = { readonly date_from: string; readonly date_to: string }

/** The first and last millisecond of the days; a moment is itself. */
export function reportWindow({ date_from, date_to }: { [name in keyof Bounds]?: string | undefined }): Bounds & {
  window: Window
} {
  const last = date_to ?? new Date().toISOString().slice(0, 10)
  const to = momentOf(last.length > 10 ? last : `${last}T23:59:59.999Z`, 'date_to')
  const first = date_from ?? new Date(to.ms - (USUAL_DAYS - 1) * DAY_MS).toISOString().slice(0, 10)
  return { window: possible(windowBetween(momentOf(first, 'date_from'), to)), date_from: first, date_to: last }
}

type Counts = {
  key: string
  label: string | null
  requests: number
  joins: number
  organic: number
  left: number
} & { [Days in (typeof api.STAYS)[number] as `matured_${Days}` | `stayed_${Days}`]: number }

const KEYS: Record<api.ReportDimension, { key: string; asked: string; isOfClick: boolean }> = {
  day: {
    key: `to_char(m.joined_at at time zone 'UTC', 'YYYY-MM-DD')`,
    asked: `to_char(m.asked_at at time zone 'UTC', 'YYYY-MM-DD')`,
    isOfClick: false,
  },
  campaign: { key: `coalesce(m.campaign_id::text, '')`, asked: `coalesce(m.campaign_id::text, '')`, isOfClick: false },
  sub1: { key: `coalesce(k.sub1, '')`, asked: `coalesce(k.sub1, '')`, isOfClick: true },
  geo: { key: `coalesce(k.geo, '')`, asked: `coalesce(k.geo, '')`, isOfClick: true },
  certainty: { key: `coalesce(m.certainty, 'organic')`, asked: `coalesce(m.certainty, 'organic')`, isOfClick: false },
}

/** Joins and requests of the days by key and in all. A join that nobody has looked for yet is organic as far as is known. */
async function peopleOf(reads: pg.Pool, { org_id, channel_id, since, dimension, window }: Asked) {
  const { key, asked, isOfClick } = KEYS[dimension]
  const clicks = isOfClick
    ? 'left join lateral (select sub1, geo from clicks where org_id = $1 and id = m.click_id limit 1) k on true'
    : ''
  const isOrganic = 'm.click_id is null'
  // The row organic is about those without a click, every other figure about those with one.
  const isMeant = dimension === 'certainty' ? 'true' : `not (${isOrganic})`
  const stays = api.STAYS.map(days => {
    const matured = `${isMeant} and e.id is null and m.joined_at <= now() - interval '${days} days'`
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
  const { rows } = await reads.query<Counts>(
    `select key, ${names.map(name => `sum("${name}")::int as "${name}"`).join(', ')} from (
      select ${key} as key, 0 as requests, count(*) filter (where ${isMeant})::int as joins,
        count(*) filter (where ${isOrganic})::int as organic,
        count(*) filter (where ${isMeant} and m.state <> 'in')::int as "left", ${stays.join(', ')}
      from channel_members m ${clicks}
      left join events e on e.org_id = $1 and e.id = m.event_id and e.created_at < $5
      where m.org_id = $1 and m.channel_id = $2 and m.joined_at >= $3 and m.joined_at <= $4
      group by 1
      union all
      select ${asked}, count(*)::int, 0, 0, 0, ${none.join(', ')}
      from join_requests m ${clicks}
      where m.org_id = $1 and m.channel_id = $2 and m.asked_at >= $3 and m.asked_at <= $4
      group by 1
    ) counted group by key`,
    [org_id, channel_id, new Date(window.from).toISOString(), new Date(window.to).toISOString(), since],
  )
  const { rows: sure } = await reads.query<{ certainty: api.Certainty; joins: number }>(
    `select coalesce(certainty, 'organic') as certainty, count(*)::int as joins
    from channel_members
    where org_id = $1 and channel_id = $2 and joined_at >= $3 and joined_at <= $4
    group by 1`,
    [org_id, channel_id, new Date(window.from).toISOString(), new Date(window.to).toISOString()],
  )
  const counted = new Map(sure.map(row => [row.certainty, row.joins]))
  const certainty = { link: 0, person: 0, campaign: 0, organic: 0, ...Object.fromEntries(counted) }
  const paid = dimension === 'certainty' ? rows.filter(row => row.key !== 'organic') : rows
  const sum = (name: keyof Counts, of: readonly Counts[]) => of.reduce((all, row) => all + Number(row[name]), 0)
  const total = {
    ...Object.fromEntries(names.map(name => [name, sum(name as keyof Counts, paid)])),
    requests: sum('requests', rows),
    organic: sum('organic', rows),
    key: '',
  } as Counts
  return { rows, total, certainty }
}

/** Campaigns that lead into the channel, and those that have brought somebody on these days, with their names. */
async function campaignsInto(reads: pg.Pool, { org_id, channel_id, window }: Asked): Promise<Map<string, string>> {
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

type Spent = { readonly clicks: number | null; readonly cost: string | null; readonly label?: string }
type Money = {
  readonly byKey: ReadonlyMap<string, Spent>
  readonly total: Spent
  readonly apart: string | null
  readonly isCut: boolean
}

async function spentOn(
  ground: Parameters<typeof reportOfCampaigns>[0],
  org_id: number,
  campaigns: readonly string[],
  { dimension, window }: Asked,
): Promise<Money> {
  const ofAll = await reportOfCampaigns(ground, org_id, { dimension: 'campaign', window, campaigns })
  const total = { clicks: ofAll.totals.clicks, cost: ofAll.totals.cost ?? null }
  if (dimension === 'certainty') return { byKey: new Map(), total, apart: null, isCut: false }
  const report =
    dimension === 'campaign' ? ofAll : await reportOfCampaigns(ground, org_id, { dimension, window, campaigns })
  const byKey = new Map(report.rows.map(({ key, label, clicks, cost = null }) => [key, { label, clicks, cost }]))
  return { byKey, total, apart: report.not_broken_down?.cost ?? null, isCut: report.truncated }
}

type Named = Pick<Asked, 'dimension'> & { readonly campaigns: ReadonlyMap<string, string> }

const ORDER: readonly string[] = api.CERTAINTIES

/** A row for each key there are people or clicks of: days by date, certainties from the surest, all else by joins. */
function merged(counts: readonly Counts[], { byKey }: Money, { dimension, campaigns }: Named): Row[] {
  const people = new Map(
    counts.map(row => [dimension === 'campaign' && row.key !== '' ? toWireId(row.key) : row.key, row]),
  )
  const keys = new Set([...byKey.keys(), ...people.keys()])
  const nothing = dimension === 'certainty' ? { clicks: null, cost: null } : { clicks: 0, cost: costless(dimension) }
  const rows = [...keys].map(key => {
    const spent = byKey.get(key)
    const label = spent?.label ?? campaigns.get(key) ?? (key === '' ? '(none)' : key)
    return { key, label, ...figuresOf(people.get(key), spent ?? nothing) }
  })
  if (dimension === 'day') return rows.toSorted((a, b) => (a.key < b.key ? -1 : 1))
  if (dimension === 'certainty') return rows.toSorted((a, b) => ORDER.indexOf(a.key) - ORDER.indexOf(b.key))
  return rows.toSorted((a, b) => b.joins - a.joins || (b.clicks ?? 0) - (a.clicks ?? 0) || (a.key < b.key ? -1 : 1))
}

const costless = (dimension: api.ReportDimension) => (dimension === 'geo' ? null : '0.00')

function figuresOf(counts: Counts | undefined, { clicks, cost }: Spent): Figures {
  const of = (name: Exclude<keyof Counts, 'key' | 'label'>) => counts?.[name] ?? 0
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

const stayOf = (counts: Counts | undefined, days: (typeof api.STAYS)[number]) => ({
  matured: counts?.[`matured_${days}`] ?? 0,
  stayed: counts?.[`stayed_${days}`] ?? 0,
})

/** The cost times `times` over `heads`, to four places, half up; null where there are none or no cost is known. */
export function costPerHead(cost: string | null, times: number, heads: number): string | null {
  if (cost === null || heads === 0 || toMillionths(cost) === 0n) return null
  const tenThousandths = (toMillionths(cost) * BigInt(times) * 2n + 100n * BigInt(heads)) / (200n * BigInt(heads))
  return fromMillionths(tenThousandths * 100n)
}
