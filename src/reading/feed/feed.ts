/**
 * The click feed: clicks newest first, in pages by id, which is the order of creation. Reads `clicks` and selects only the 21 fields of the
 * interface. Owns no table.
 */
import { DAY_MS, dayOf, LAST_MS } from '../../contract/days.ts'
import type { Call } from '../../contract/endpoint.ts'
import { timeOfId, toUuid, toWireId } from '../../contract/ids.ts'
import { LADDER } from '../../contract/ladder.ts'
import { MOST_FILE_LINES } from '../../contract/list-files.ts'
import type { Moment } from '../../contract/moments.ts'
import { refuse } from '../../contract/refusals.ts'
import { after, momentOf, type RawParameter, singleValue, type Window, windowBetween } from '../../contract/window.ts'
import { fileOf } from '../../ground/db/list-file.ts'
import type { Context, Ground, Key, Member } from '../../ground/room.ts'
import { campaignsNamed } from '../../traffic/campaigns/names.ts'
import { clicksKeptFrom } from '../reports/kept.ts'
import { campaignsOf, readWarnings } from '../reports/question.ts'
import * as api from './api.ts'
import { openCursor, sealCursor } from './cursor.ts'
import { type SOUGHT, stretchesOf } from './days.ts'
import { type AS_THEY_ARE, type FeedPage, feedStatement, type MoreFilters } from './statement.ts'

const USUAL = 100
const MOST = 1000
const SPAN_MS = 30 * DAY_MS

type FeedQuery = {
  readonly [name in 'date_from' | 'date_to' | 'campaign_id' | 'status' | 'tracked' | 'cursor' | 'limit']?: RawParameter
} & { readonly [name in (typeof SOUGHT)[number]]?: string | undefined } & MoreFilters
type Asking = Pick<Ground, 'database' | 'secrets'> & { readonly actor: Member | Key }

/** A page of clicks for a key, within its campaigns. */
export function listClicks(context: Context<typeof api.listClicks>, { query }: Call<typeof api.listClicks>) {
  return pageOf(context, query)
}

/**
 * The same for signed-in people, with the names of the campaigns, and the first day whose clicks are kept, because earlier days are empty.
 */
export async function listClicksAsMember(
  context: Context<typeof api.listClicksAsMember>,
  { query }: Call<typeof api.listClicksAsMember>,
) {
  const page = await pageOf(context, query)
  const { actor, database } = context
  const [kept_from, leftOut, campaigns] = await Promise.all([
    clicksKeptFrom(database.reads),
    leftOutAmong(
      database.reads,
      actor.org_id,
      page.data.map(({ id }) => id),
    ),
    campaignsNamed(
      database.reads,
      actor.org_id,
      page.data.map(({ campaign_id }) => ({
        campaign_id: campaign_id === null ? null : (toUuid(campaign_id) ?? null),
      })),
    ),
  ])
  const named = campaigns.map(({ id, ...campaign }) => ({ id: toWireId(id), ...campaign }))
  const data = page.data.map(click => ({ ...click, is_left_out: leftOut.has(click.id) }))
  return { ...page, data, campaigns: named, clicks_from: kept_from === 0 ? null : dayOf(kept_from) }
}

/** Those of the clicks whose visitors had a left-out value; ids as the API writes them. */
async function leftOutAmong(
  reads: Ground['database']['reads'],
  org_id: number,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await reads.query<{ id: string }>(
    'select id from clicks where org_id = $1 and id = any($2::uuid[]) and left_out is not null',
    [org_id, ids.map(id => toUuid(id))],
  )
  return new Set(rows.map(({ id }) => toWireId(id)))
}

/** The listed clicks as a CSV file. Refuses as the list does, and `too_many_lines`. */
export async function exportClicks(
  { database, secrets, actor }: Context<typeof api.exportClicks>,
  { query }: Call<typeof api.exportClicks>,
) {
  const asked = readQuery({ secrets, actor }, query).page
  const page = isEmpty(asked) ? { ...asked, stretches: [] } : await narrowed(database, actor.org_id, asked)
  const wire = wireIds()
  return await fileOf<ClickRow>(
    {
      isTooLong: async () => {
        if (page.stretches?.length === 0) return false
        const { text, values = [] } = feedStatement(actor.org_id, { ...page, limit: MOST_FILE_LINES })
        const { rows } = await database.reads.query(
          `select from (${text}) as listed limit 1 offset ${MOST_FILE_LINES}`,
          [...values],
        )
        return rows.length > 0
      },
      // A page reads one row more than its limit.
      read: (last, limit) => selectClicks(database, actor.org_id, { ...page, before: last?.id, limit: limit - 1 }),
    },
    { titles: Object.keys(api.FeedClick.shape), encode: async rows => rows.map(row => wireClick(row, wire)) },
  )
}

async function pageOf({ database, secrets, actor }: Asking, query: FeedQuery) {
  const { page, defaulted } = readQuery({ secrets, actor }, query)
  const clicks = isEmpty(page)
    ? []
    : await selectClicks(database, actor.org_id, await narrowed(database, actor.org_id, page))
  const data = clicks.slice(0, page.limit)
  const last = data.at(-1)
  const more = clicks.length > page.limit && last !== undefined
  const cursor = more && { id: last.id, ...(defaulted && { bounds: page.window }) }
  const wire = wireIds()
  const warnings = readWarnings(query)
  return {
    data: data.map(row => wireClick(row, wire)),
    next_cursor: cursor ? sealCursor(secrets, actor.org_id, cursor) : null,
    ...(warnings.length === 0 ? {} : { warnings }),
  }
}

/** Reads the query. Refuses in the order window, width, status, tracked, cursor. */
function readQuery(
  { secrets, actor }: Omit<Asking, 'database'>,
  query: FeedQuery,
): { page: FeedPage; defaulted: boolean } {
  const sentWindow = feedWindow(query)
  const status = statusOf(singleValue(query.status, 'status', 'invalid_status'))
  const tracked = trackedOf(singleValue(query.tracked, 'tracked', 'invalid_tracked'))
  const sealed = singleValue(query.cursor, 'cursor', 'invalid_cursor')
  const cursor = sealed === undefined ? undefined : openCursor(secrets, actor.org_id, sealed)
  const campaigns = campaignsOf(actor, query.campaign_id)
  const now = Date.now()
  // A pasted id is looked up in all clicks.
  const usual = query.q ? { from: 0, to: LAST_MS } : { from: now - SPAN_MS, to: now }
  const window = sentWindow ?? cursor?.bounds ?? usual
  const sought = { geo: valueOf(query.geo?.toUpperCase()), sub1: valueOf(query.sub1) }
  const page = {
    window,
    campaigns,
    status,
    tracked,
    ...sought,
    more: query,
    before: cursor?.id,
    limit: limitOf(query.limit),
  }
  return { page, defaulted: sentWindow === undefined }
}

/** The window as sent; a missing bound is derived from the other one. Undefined if neither was sent. */
function feedWindow({ date_from, date_to }: FeedQuery): Window | undefined {
  const from = date_from === undefined ? undefined : momentOf(date_from, 'date_from')
  const to = date_to === undefined ? undefined : momentOf(date_to, 'date_to')
  if (from === undefined && to === undefined) return undefined
  return windowBetween(from ?? after(to as Moment, -SPAN_MS), to ?? after(from as Moment, SPAN_MS))
}

function statusOf(sent: string | undefined): number | undefined {
  if (sent === undefined) return undefined
  const rung = LADDER.findIndex(status => status === sent)
  return rung < 0 ? refuse('invalid_status') : rung
}

function trackedOf(sent: string | undefined): boolean | undefined {
  const known = api.TRACKED.find(value => value === (sent ?? 'true')) ?? refuse('invalid_tracked')
  return known === 'all' ? undefined : known === 'true'
}

/** An empty text asks for clicks without a value, as in the report. */
const valueOf = (sent: string | undefined) => (sent === '' ? null : sent)

/** Clamps the limit to its range. A text that is not a whole number counts as not sent. */
function limitOf(sent: RawParameter): number {
  if (typeof sent !== 'string' || !/^[+-]?\d+$/.test(sent)) return USUAL
  return Math.min(Math.max(Number(sent), 1), MOST)
}

function isEmpty({ window, campaigns }: FeedPage): boolean {
  return window.from > window.to || campaigns?.length === 0
}

/** Narrows the page to the days that have clicks with the values sought. Only for tracked clicks, because the counters count no others. */
async function narrowed({ reads }: Ground['database'], org_id: number, page: FeedPage): Promise<FeedPage> {
  const { window, campaigns, tracked, before, geo, sub1 } = page
  if (tracked !== true || (geo === undefined && sub1 === undefined) || (campaigns?.length ?? 1) > 1) return page
  const to = before === undefined ? window.to : Math.min(window.to, timeOfId(before))
  return { ...page, stretches: await stretchesOf(reads, org_id, { ...window, to }, campaigns?.[0] ?? null, page) }
}

type ClickRow = {
  readonly [name in (typeof AS_THEY_ARE)[number] | 'campaign_id' | 'offer_id' | 'revenue']: string | null
} & {
  readonly id: string
  readonly status: number
  readonly tracked: boolean
}

async function selectClicks(database: Ground['database'], org_id: number, page: FeedPage): Promise<ClickRow[]> {
  if (page.stretches?.length === 0) return []
  const { text, values = [] } = feedStatement(org_id, page)
  const { rows } = await database.reads.query<ClickRow>(text, [...values])
  return rows
}

/** Caches ids of the API, because a page names few campaigns and offers many times each. */
function wireIds(): (id: string | null) => string | null {
  const written = new Map<string, string>()
  return id => {
    if (id === null) return null
    const known = written.get(id) ?? toWireId(id)
    written.set(id, known)
    return known
  }
}

/** A click for the API, with its fields in the order of the interface, because the gate sends it as it is. */
function wireClick(row: ClickRow, wire: (id: string | null) => string | null): api.FeedClick {
  return {
    id: toWireId(row.id),
    created_at: new Date(timeOfId(row.id)).toISOString(),
    campaign_id: wire(row.campaign_id),
    status: LADDER[row.status] ?? 'clicked',
    tracked: row.tracked,
    geo: row.geo,
    device: row.device,
    os: row.os,
    browser: row.browser,
    ref_id: row.ref_id,
    offer_id: wire(row.offer_id),
    sub1: row.sub1,
    sub2: row.sub2,
    sub3: row.sub3,
    sub4: row.sub4,
    sub5: row.sub5,
    sub6: row.sub6,
    sub7: row.sub7,
    sub8: row.sub8,
    sub9: row.sub9,
    revenue: row.revenue,
  }
}
