// The statements behind the campaigns in memory: all of them once, and what has changed lately.
import type pg from 'pg'
import type { Graph } from '../../contract/flow-graph.ts'
import { NIL_ID } from '../../contract/ids.ts'
import { type Among, askEverywhere, type Everywhere } from '../../ground/db/everywhere.ts'
import type { CampaignStatus } from './api.ts'
import type { StoredCost } from './cost.ts'
import type { StoredDestination } from './destination.ts'
import type { Filling } from './link.ts'

/** A campaign's row as traffic needs it, deleted ones included. */
export type CampaignRow = {
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
  readonly status: CampaignStatus
  readonly is_deleted: boolean
}

/** What every live object but a campaign has. Replaced as a whole when it changes, so what is compiled for it can be kept by the object. */
type LiveRow = { readonly org_id: number; readonly id: string; readonly is_deleted: boolean }

/** An offer's row as traffic needs it. */
export type LiveOffer = LiveRow & { readonly url: string; readonly payout: string | null; readonly status: string }

/** A landing's row as traffic needs it. */
export type LiveLanding = LiveRow & { readonly url: string; readonly status: string }

/** A funnel's row as traffic needs it. */
export type LiveFunnel = LiveRow & {
  readonly landings: readonly { readonly landing_id: string; readonly weight: number }[]
  readonly offers: readonly { readonly offer_id: string; readonly weight: number }[]
}

/** A click flow as traffic needs it: the graph of its published version while it is active, else null. */
export type LiveFlow = LiveRow & {
  readonly status: string
  readonly version: number | null
  readonly graph: Graph | null
}

/** A bot as traffic needs it. */
type LiveBot = LiveRow & { readonly username: string }

/** A channel as traffic needs it. Its links are of the chat and of one mode: when either changes they are made anew. */
export type LiveChannel = LiveRow & {
  readonly chat_id: string
  readonly username: string | null
  readonly state: string
  readonly join_mode: string
  readonly link_days: number
}

/** The link into a channel that a campaign's clicks share where there is none of their own. */
export type LiveSharedLink = LiveRow & {
  readonly channel_id: string
  readonly campaign_id: string
  readonly url: string
}

/** An ad account as traffic needs it. `wants_ip`: it is in use, and matches by the visitor's address. */
type LiveAdAccount = LiveRow & { readonly wants_ip: boolean }

/** A traffic source as traffic needs it. */
export type LiveTrafficSource = LiveRow & {
  readonly parameters: readonly Filling[]
  readonly cost_unit: string | null
  readonly cost_currency: string
}

/** A cap as traffic needs it, with the offer or campaign it is of. While its limit is reached it is closed until `closed_ms` (Unix). */
export type LiveCap = LiveRow & {
  readonly object_id: string
  readonly then_offer_id: string | null
  readonly closed_ms: number | null
  readonly metric: 'conversions' | 'clicks' | 'cost'
  readonly limit: number
  readonly period: 'day' | 'month' | 'total'
  readonly timezone: string
  /** Of a cap on clicks: what happens to visitors for whom no place can be asked for. */
  readonly when_unknown: 'closed' | 'open'
}

/** When an offer or a campaign takes visitors: the half hours of a week in a zone. `id` is the object's. */
type LiveOpenHours = LiveRow & { readonly timezone: string; readonly week: readonly string[] }

/** What campaigns lead to or report to, by kind; kept in memory like the campaigns themselves. */
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
}
export type LiveKind = keyof LiveObjects

/** Something that is known to have changed. */
export type Named = { readonly org_id: number; readonly id: string }

const CAMPAIGN = `c.org_id, c.id, c.key, c.destination, c.offer_id, c.fallback_url, c.ad_account_id, c.traffic_source_id, c.source, c.strict_filter,
  c.cost, c.status, c.deleted_at is not null as is_deleted`

const PAGE = 5000

/** By kind: what is read of the rows, up to the condition that says which. */
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
} satisfies Record<LiveKind, string>

export const LIVE_KINDS = Object.keys(SELECTS) as LiveKind[]

/** Every campaign of every organization, page by page, deleted ones too: their addresses stay in ads. */
export function readAllCampaigns(pool: pg.Pool): Promise<Everywhere<CampaignRow>> {
  return readPages(
    pool,
    among =>
      `select ${CAMPAIGN} from campaigns c where (c.org_id, c.id) > ($1, $2)${among('c.org_id')} order by c.org_id, c.id limit ${PAGE}`,
  )
}

/** Every object of a kind. */
export function readAll<K extends LiveKind>(pool: pg.Pool, kind: K): Promise<Everywhere<LiveObjects[K]>> {
  return readPages(
    pool,
    among =>
      `${SELECTS[kind]} where (o.org_id, o.id) > ($1, $2)${among('o.org_id')} order by o.org_id, o.id limit ${PAGE}`,
  )
}

/** Objects of a kind that changed since then (the database's text), and the named ones. */
export function readChangedOf<K extends LiveKind>(
  pool: pg.Pool,
  kind: K,
  since: string,
  named: readonly Named[],
): Promise<Everywhere<LiveObjects[K]>> {
  return readChanged(
    pool,
    among =>
      `${SELECTS[kind]} where (o.updated_at >= $1 or (o.org_id = any($2) and o.id = any($3)))${among('o.org_id')}`,
    since,
    named,
  )
}

/**
 * The kinds of which something changed since then (the database's text). An idle process asks this each second, and nothing else: one statement
 * instead of one for each kind.
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
      const kinds = LIVE_KINDS.map(kind => changed(kind, SELECTS[kind]))
      return [...kinds, changed('campaign', 'select o.org_id from campaigns o')].join(' union all ')
    },
    [since],
  )
  return { kinds: new Set(rows.map(({ kind }) => kind)), isWhole }
}

/** Campaigns changed since then (the database's text), and the named ones. */
export function readChangedCampaigns(
  pool: pg.Pool,
  since: string,
  named: readonly Named[],
): Promise<Everywhere<CampaignRow>> {
  return readChanged(
    pool,
    among =>
      `select ${CAMPAIGN} from campaigns c where (c.updated_at >= $1 or (c.org_id = any($2) and c.id = any($3)))${among('c.org_id')}`,
    since,
    named,
  )
}

/** The campaigns behind these keys, for visits that come before the news of them. */
export async function readCampaignsOfKeys(pool: pg.Pool, keys: readonly string[]): Promise<CampaignRow[]> {
  const { rows } = await askEverywhere<CampaignRow>(
    pool,
    among =>
      `select ${CAMPAIGN} from campaign_keys k join campaigns c on c.org_id = k.org_id and c.id = k.campaign_id where k.key = any($1)${among('c.org_id')}`,
    [keys],
  )
  return rows
}

/** Before everything that is written down. */
export const BEGINNING = '-infinity'

/** Covers transactions that committed after their `updated_at`, and clocks of a sharded database's nodes. */
const OVERLAP = `interval '10 seconds'`

/**
 * Whose campaigns only lead to their fallbacks; and since when the reading after this one is to look for changes, by the clock that they
 * are written by.
 */
export async function readDeletedOrganizations(pool: pg.Pool): Promise<{ gone: Set<number>; since: string }> {
  const { rows } = await pool.query<{ gone: number[]; since: string }>(
    `select array(select org_id from organizations where deleted_at is not null) as gone, clock_timestamp() - ${OVERLAP} as since`,
  )
  const [row] = rows
  return { gone: new Set(row?.gone), since: row?.since ?? BEGINNING }
}

async function readPages<Row extends Named & pg.QueryResultRow>(
  pool: pg.Pool,
  text: (among: Among) => string,
): Promise<Everywhere<Row>> {
  const all: Row[] = []
  let isWhole = true
  for (let last: Named = { org_id: 0, id: NIL_ID }; ; ) {
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
  named: readonly Named[],
): Promise<Everywhere<Row>> {
  const ids = named.filter(({ id }) => id !== '')
  return askEverywhere<Row>(pool, text, [since, ids.map(({ org_id }) => org_id), ids.map(({ id }) => id)])
}
