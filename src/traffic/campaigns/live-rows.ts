// The statements that fill the memory of campaigns: one reads all rows, one reads the rows that changed since a time.
import type pg from 'pg'
import type { Graph } from '../../contract/flow-graph.ts'
import { NIL_ID } from '../../contract/ids.ts'
import { type Among, askEverywhere, type Everywhere } from '../../ground/db/everywhere.ts'
import type { CampaignStatus } from './api.ts'
import type { StoredCost } from './cost.ts'
import type { StoredDestination } from './destination.ts'
import type { LinkParameter } from './link.ts'

/** The columns of a campaign that the redirect needs. Deleted campaigns are included. */
export type LiveCampaignRow = {
  readonly org_id: number
  readonly id: string
  readonly key: string
  readonly destination: StoredDestination
  readonly offer_id: string | null
  readonly fallback_url: string | null
  readonly ad_account_id: string | null
  readonly traffic_source_id: string | null
  readonly source: Readonly<Record<string, string>>
  readonly strict_filter: boolean
  readonly cost: StoredCost | null
  /** The hosts whose pages may count visits. */
  readonly sites: readonly string[]
  readonly browser_types: readonly string[]
  readonly status: CampaignStatus
  readonly is_deleted: boolean
}

/** The common columns of the other objects. An object is replaced when it changes and never mutated, so caches can use it as their key. */
type LiveRow = { readonly org_id: number; readonly id: string; readonly is_deleted: boolean }

export type LiveOffer = LiveRow & { readonly url: string; readonly payout: string | null; readonly status: string }

export type LiveLanding = LiveRow & { readonly url: string; readonly status: string }

export type LiveFunnel = LiveRow & {
  readonly landings: readonly { readonly landing_id: string; readonly weight: number }[]
  readonly offers: readonly { readonly offer_id: string; readonly weight: number }[]
}

/** A click flow; `graph` is the published version's while the flow is active, otherwise null. */
export type LiveFlow = LiveRow & {
  readonly status: string
  readonly version: number | null
  readonly graph: Graph | null
}

type LiveBot = LiveRow & { readonly username: string }

/** A channel. Its links belong to one chat and one join mode: if either changes, new links are made. */
export type LiveChannel = LiveRow & {
  readonly chat_id: string
  readonly username: string | null
  readonly state: string
  readonly join_mode: string
  readonly link_days: number
}

/** The shared invite link of a campaign into a channel. Clicks get it when no link of their own is ready. */
export type LiveSharedLink = LiveRow & {
  readonly channel_id: string
  readonly campaign_id: string
  readonly url: string
}

/** An ad account. `wants_ip`: it is in use and matches by the visitor's IP address. */
type LiveAdAccount = LiveRow & { readonly wants_ip: boolean }

export type LiveTrafficSource = LiveRow & {
  readonly parameters: readonly LinkParameter[]
  readonly cost_unit: string | null
  readonly cost_currency: string
}

/** A cap; `object_id` is its offer or campaign. A reached cap is closed until `closed_ms` (Unix). */
export type LiveCap = LiveRow & {
  readonly object_id: string
  readonly then_offer_id: string | null
  readonly closed_ms: number | null
  readonly metric: 'conversions' | 'clicks' | 'cost'
  readonly limit: number
  readonly period: 'day' | 'month' | 'total'
  readonly timezone: string
  /** For a cap on clicks: what happens to visitors while the database cannot be asked for places. */
  readonly when_unknown: 'closed' | 'open'
}

/** The open hours of an offer or a campaign: the half hours of a week in a time zone. `id` is the object's. */
type LiveOpenHours = LiveRow & { readonly timezone: string; readonly week: readonly string[] }

/** The left-out values of a campaign, whose id it has. `timezone` is the workspace's, for hours. */
export type LiveLeftOut = LiveRow & {
  readonly timezone: string
  readonly entries: readonly (readonly [
    field: string,
    value: string,
    offer_id: string | null,
    until_ms: number | null,
    let_in_share: number | null,
  ])[]
}

/** Ended split tests, by test: the winner, and since when new visitors get it (Unix milliseconds). */
export type TestEnds = Readonly<Record<string, { readonly winner: string; readonly at_ms: number }>>

/** The ended split tests of a funnel or a click flow, whose id it has. */
type LiveTestEnds = LiveRow & { readonly tests: TestEnds }

/** The objects in memory besides campaigns, by kind. */
export type LiveObjects = {
  offer: LiveOffer
  landing: LiveLanding
  funnel: LiveFunnel
  click_flow: LiveFlow
  bot: LiveBot
  channel: LiveChannel
  shared_link: LiveSharedLink
  ad_account: LiveAdAccount
  traffic_source: LiveTrafficSource
  cap: LiveCap
  open_hours: LiveOpenHours
  left_out: LiveLeftOut
  test_ends: LiveTestEnds
}
export type LiveKind = keyof LiveObjects

/** The id of an object that was announced as changed. */
export type ChangedObject = { readonly org_id: number; readonly id: string }

const CAMPAIGN = `c.org_id, c.id, c.key, c.destination, c.offer_id, c.fallback_url, c.ad_account_id, c.traffic_source_id, c.source, c.strict_filter,
  c.cost, c.sites, c.browser_types, c.status, c.deleted_at is not null as is_deleted`

const PAGE = 5000

/** The select of each kind, without its condition. The condition does not reach sub-selects: a select with one limits its organizations itself. */
const SELECTS = {
  offer: `select o.org_id, o.id, o.url, o.payout, o.status, o.deleted_at is not null as is_deleted from offers o`,
  landing: `select o.org_id, o.id, o.url, o.status, o.deleted_at is not null as is_deleted from landings o`,
  funnel: `select o.org_id, o.id, o.landings, o.offers, o.deleted_at is not null as is_deleted from funnels o`,
  click_flow: `select o.org_id, o.id, o.status, v.version, v.graph, o.deleted_at is not null as is_deleted from click_flows o
    left join click_flow_versions v on v.org_id = o.org_id and v.click_flow_id = o.id
      and v.version = o.published_version and o.status = 'active'`,
  bot: `select o.org_id, o.id, o.username, o.is_deleted from (
      select org_id, id, username, deleted_at is not null as is_deleted, greatest(created_at, deleted_at) as updated_at from bots
    ) o`,
  channel: `select o.org_id, o.id, o.chat_id, o.username, o.state, o.join_mode, o.link_days, o.deleted_at is not null as is_deleted from (
      select org_id, id, chat_id, username, state, join_mode, link_days, deleted_at, greatest(updated_at, deleted_at) as updated_at from channels
    ) o`,
  shared_link: `select o.org_id, o.id, o.channel_id, o.campaign_id, o.url, o.state = 'dead' as is_deleted from (
      select org_id, id, channel_id, campaign_id, url, state, changed_at as updated_at from channel_links where purpose = 'shared'
    ) o`,
  ad_account: `select o.org_id, o.id, o.deleted_at is not null as is_deleted,
    coalesce((o.settings ->> 'keeps_ip')::boolean, false) and o.state <> 'off' and o.deleted_at is null as wants_ip from ad_accounts o`,
  traffic_source: `select o.org_id, o.id, o.parameters, o.cost_unit, o.cost_currency, o.deleted_at is not null as is_deleted from traffic_sources o`,
  cap: `select o.org_id, o.id, o.object_id, o.then_offer_id, (extract(epoch from o.closed_until) * 1000)::float8 as closed_ms,
    o.metric, o."limit", o.period, o.timezone, o.when_unknown, not o.active or o.deleted_at is not null as is_deleted from caps o`,
  open_hours: `select o.org_id, o.id, o.timezone, o.week, o.week is null as is_deleted
    from (select org_id, object_id as id, timezone, week, updated_at from open_hours) o`,
  left_out: (
    among: Among,
  ) => `select o.org_id, o.id, coalesce(g.timezone, 'UTC') as timezone, false as is_deleted, coalesce((
      select json_agg(json_build_array(v.field, v.value, v.offer_id, (extract(epoch from v.until) * 1000)::float8, v.let_in_share) order by v.id)
      from left_out_values v where v.org_id = o.org_id and v.campaign_id = o.id${among('v.org_id')}
    ), '[]') as entries
    from (select org_id, campaign_id as id, updated_at from left_out_lists) o left join organizations g on g.org_id = o.org_id`,
  test_ends: `select o.org_id, o.id, o.tests, false as is_deleted from (select org_id, object_id as id, tests, updated_at from test_ends) o`,
} satisfies Record<LiveKind, string | ((among: Among) => string)>

export const LIVE_KINDS = Object.keys(SELECTS) as LiveKind[]

function selectOf(kind: LiveKind, among: Among): string {
  const select = SELECTS[kind]
  return typeof select === 'string' ? select : select(among)
}

/** All campaigns of all organizations, page by page. Deleted ones are included, because their links stay in ads. */
export function readAllCampaigns(pool: pg.Pool): Promise<Everywhere<LiveCampaignRow>> {
  return readPages(
    pool,
    among =>
      `select ${CAMPAIGN} from campaigns c where (c.org_id, c.id) > ($1, $2)${among('c.org_id')} order by c.org_id, c.id limit ${PAGE}`,
  )
}

/** All objects of a kind. */
export function readAll<K extends LiveKind>(pool: pg.Pool, kind: K): Promise<Everywhere<LiveObjects[K]>> {
  return readPages(
    pool,
    among =>
      `${selectOf(kind, among)} where (o.org_id, o.id) > ($1, $2)${among('o.org_id')} order by o.org_id, o.id limit ${PAGE}`,
  )
}

/** The objects of a kind that changed since a time (the database's text), and the announced ones. */
export function readChangedOf<K extends LiveKind>(
  pool: pg.Pool,
  kind: K,
  since: string,
  announced: readonly ChangedObject[],
): Promise<Everywhere<LiveObjects[K]>> {
  return readChanged(
    pool,
    among =>
      `${selectOf(kind, among)} where (o.updated_at >= $1 or (o.org_id = any($2) and o.id = any($3)))${among('o.org_id')}`,
    since,
    announced,
  )
}

/**
 * The kinds that changed since a time (the database's text). A process asks only this after each commit: one statement instead of one per kind.
 */
export async function readChangedKinds(
  pool: pg.Pool,
  since: string,
): Promise<{ kinds: ReadonlySet<LiveKind | 'campaign'>; isWhole: boolean }> {
  const { rows, isWhole } = await askEverywhere<{ kind: LiveKind | 'campaign' }>(
    pool,
    among => {
      const changed = (kind: LiveKind | 'campaign', select: string) =>
        `(select '${kind}' as kind from (${select} where o.updated_at >= $1${among('o.org_id')} limit 1) o)`
      const kinds = LIVE_KINDS.map(kind => changed(kind, selectOf(kind, among)))
      return [...kinds, changed('campaign', 'select o.org_id from campaigns o')].join(' union all ')
    },
    [since],
  )
  return { kinds: new Set(rows.map(({ kind }) => kind)), isWhole }
}

/** The campaigns that changed since a time (the database's text), and the announced ones. */
export function readChangedCampaigns(
  pool: pg.Pool,
  since: string,
  announced: readonly ChangedObject[],
): Promise<Everywhere<LiveCampaignRow>> {
  return readChanged(
    pool,
    among =>
      `select ${CAMPAIGN} from campaigns c where (c.updated_at >= $1 or (c.org_id = any($2) and c.id = any($3)))${among('c.org_id')}`,
    since,
    announced,
  )
}

/** The campaigns of these keys, for visits that arrive before the announcement of a new campaign. */
export async function readCampaignsOfKeys(pool: pg.Pool, keys: readonly string[]): Promise<LiveCampaignRow[]> {
  const { rows } = await askEverywhere<LiveCampaignRow>(
    pool,
    among =>
      `select ${CAMPAIGN} from campaign_keys k join campaigns c on c.org_id = k.org_id and c.id = k.campaign_id where k.key = any($1)${among('c.org_id')}`,
    [keys],
  )
  return rows
}

/** A time before every row. */
export const BEGINNING = '-infinity'

/** Covers transactions that commit after their `updated_at`, and the different clocks of a cluster's nodes. */
const OVERLAP = `interval '10 seconds'`

/**
 * The deleted organizations, whose campaigns lead only to their fallbacks, and the time from which the next read must look for changes, by the
 * database's clock.
 */
export async function readDeletedOrganizations(pool: pg.Pool): Promise<{ deleted: Set<number>; since: string }> {
  const { rows } = await pool.query<{ deleted: number[]; since: string }>(
    `select array(select org_id from organizations where deleted_at is not null) as deleted, clock_timestamp() - ${OVERLAP} as since`,
  )
  const [row] = rows
  return { deleted: new Set(row?.deleted), since: row?.since ?? BEGINNING }
}

async function readPages<Row extends ChangedObject & pg.QueryResultRow>(
  pool: pg.Pool,
  text: (among: Among) => string,
): Promise<Everywhere<Row>> {
  const all: Row[] = []
  let isWhole = true
  for (let last: ChangedObject = { org_id: 0, id: NIL_ID }; ; ) {
    const { rows, isWhole: isPageWhole } = await askEverywhere<Row>(pool, text, [last.org_id, last.id])
    for (const row of rows) all.push(row)
    isWhole &&= isPageWhole
    if (rows.length < PAGE) return { rows: all, isWhole }
    last = rows.at(-1) ?? last
  }
}

function readChanged<Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  text: (among: Among) => string,
  since: string,
  announced: readonly ChangedObject[],
): Promise<Everywhere<Row>> {
  const ids = announced.filter(({ id }) => id !== '')
  return askEverywhere<Row>(pool, text, [since, ids.map(({ org_id }) => org_id), ids.map(({ id }) => id)])
}
