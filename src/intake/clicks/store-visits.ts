// Stores clicks that may be a click which is there already: visits that pages report, and redirects of campaigns with sites whose address has an ad
// platform's click id. One transaction claims the keys of a visit and stores its click, so that a key never names a click that is not stored. Almost all
// are new, so they are first stored as if none of their keys were taken.
import type pg from 'pg'
import { DAY_MS } from '../../contract/days.ts'
import { timeOfId } from '../../contract/ids.ts'
import { CLICKED, LANDED, stageOf } from '../../contract/ladder.ts'
import { quotedField } from '../../ground/db/composites.ts'
import { isTaken } from '../../ground/db/faults.ts'
import { ask, flight } from '../../ground/db/flight.ts'
import { onConnection } from '../../ground/db/transaction.ts'
import { sharedStatement } from '../../traffic/invite-links/grants.ts'
import { ClickSheet } from '../counters/click-sheet.ts'
import { cellOf, costsOf, DeltaSheet } from '../counters/deltas.ts'
import { CLICK_COLUMNS, type Click, clicksLiteral, NEW_CLICKS, type PageVisit } from './click.ts'
import { platformKeys } from './page-tokens.ts'
import { PAUSED_PATH } from './while-paused.ts'

const columns = CLICK_COLUMNS.join(', ')
const others = CLICK_COLUMNS.slice(1)
  .map(column => `c.${column}`)
  .join(', ')
const PAGE_STAGES = CLICKED | stageOf(LANDED)

/** A visit that a page reports is landed at once. */
const INSERT = `insert into clicks (${columns}, status, stages)
  select c.org_id, ${others}, case when c.way is null then 0 else ${LANDED} end, case when c.way is null then ${CLICKED} else ${PAGE_STAGES} end
  from unnest($1::${NEW_CLICKS}) as c`
const INSERT_ABSENT = `${INSERT}
  where not exists (select 1 from dropped_clicks where before_id > c.id)
  on conflict (org_id, id) do nothing
  returning id`

const ADD_TOKENS = `
  insert into page_visits (org_id, token, campaign_id, click_id, received_at, via, page, site, untracked_reason)
  select $1::int, t.*
  from unnest($2::new_page_visit[]) as t`
const CLAIM_TOKENS = `${ADD_TOKENS}
  on conflict (org_id, token, campaign_id) do nothing`
const READ_TOKENS = `
  select v.token, v.campaign_id, v.click_id
  from json_to_recordset($2) as t(token uuid, campaign_id uuid)
  cross join lateral (
    select token, campaign_id, click_id from page_visits
    where org_id = $1 and token = t.token and campaign_id = t.campaign_id limit 1
  ) v`
const MOVE_TOKENS = `
  update page_visits v set click_id = t.click_id
  from json_to_recordset($2) as t(token uuid, campaign_id uuid, click_id uuid)
  where v.org_id = $1 and v.token = t.token and v.campaign_id = t.campaign_id`

const ADD_KEYS = `
  insert into platform_visits as p (org_id, key, click_id, by_page, made_at)
  select $1::int, t.* from json_to_recordset($2) as t(key uuid, click_id uuid, by_page boolean, made_at timestamptz)`
const CLAIM_KEYS = `${ADD_KEYS}
  on conflict (org_id, key) do update
  set click_id = excluded.click_id, by_page = excluded.by_page, made_at = excluded.made_at
  where excluded.made_at - p.made_at > interval '24 hours'`
const READ_KEYS = `
  select p.key, p.click_id, p.by_page, (extract(epoch from p.made_at) * 1000)::float8 as made_ms
  from unnest($2::uuid[]) as t(key)
  cross join lateral (select key, click_id, by_page, made_at from platform_visits where org_id = $1 and key = t.key limit 1) p`
const MOVE_KEYS = `
  update platform_visits p set click_id = t.click_id, by_page = t.by_page
  from json_to_recordset($2) as t(key uuid, click_id uuid, by_page boolean)
  where p.org_id = $1 and p.key = t.key`

const ADD_ALIASES = `
  insert into click_aliases (org_id, id, click_id)
  select $1::int, t.* from json_to_recordset($2) as t(id uuid, click_id uuid)
  on conflict (org_id, id) do nothing`

/** The click that each click is found to be, for those that are stored under another id. */
type Joined = Map<Click, string>

/**
 * Stores the clicks of an organization, or finds the click that they are; then `joined_to` of the click is set. `mayBeStored`: an earlier try may have
 * stored them, or their ids were handed out while they were in the journal; an id that was handed out leads to the click it is found to be.
 * @throws the database's error; then nothing of this try is stored, or that is unknown.
 */
export async function storeVisits(
  pool: pg.Pool,
  org_id: number,
  clicks: readonly Click[],
  mayBeStored: boolean,
): Promise<void> {
  // Apart, so that visits which do not count never slow down those that do.
  const looking = clicks.filter(looksForAnother)
  const others = looking.length === 0 ? clicks : clicks.filter(click => !looksForAnother(click))
  if (others.length > 0 && (mayBeStored || !(await storeNew(pool, org_id, others))))
    await storeOrJoinAll(pool, org_id, others, mayBeStored)
  if (looking.length > 0) await storeOrJoinAll(pool, org_id, looking, mayBeStored)
}

async function storeOrJoinAll(
  pool: pg.Pool,
  org_id: number,
  clicks: readonly Click[],
  mayBeStored: boolean,
): Promise<void> {
  const joined: Joined = new Map()
  await onConnection(pool, client => storeOrJoin(client, org_id, clicks, { joined, mayBeStored }))
  for (const [click, click_id] of joined) click.joined_to = click_id
}

/** Stores clicks of which none is there yet, in one round trip. Returns false if one of their keys is taken; then nothing is stored. */
async function storeNew(pool: pg.Pool, org_id: number, clicks: readonly Click[]): Promise<boolean> {
  const keys = keysOf(clicks)
  const claims = keyRows(keys)
  // Two of them may be one click.
  if (claims.length < [...keys.values()].flat().length) return false
  const client = await pool.connect()
  try {
    await flight(client, {
      begin: ask('begin'),
      tokens: onTokens(ADD_TOKENS, org_id, inFixedOrder(clicks)),
      keys: onRows(ADD_KEYS, org_id, claims),
      clicks: ask(INSERT, [clicksLiteral(clicks)]),
      ...sheetsOf(clicks),
      commit: ask('commit'),
    })
    client.release()
    return true
  } catch (error) {
    const isRolledBack = isTaken(error) && (await client.query('rollback').then(Boolean, () => false))
    client.release(!isRolledBack)
    if (isRolledBack) return false
    throw error
  }
}

async function storeOrJoin(
  client: pg.PoolClient,
  org_id: number,
  clicks: readonly Click[],
  { joined, mayBeStored }: { joined: Joined; mayBeStored: boolean },
): Promise<void> {
  await joinByToken(client, org_id, clicks, joined)
  const moved = await joinByPlatform(client, org_id, clicks, joined)
  const own = clicks.filter(click => !joined.has(click))
  const aliases = mayBeStored ? [...joined].map(([{ id }, click_id]) => ({ id, click_id })) : []
  const { stored } = await flight(client, {
    tokens: onRows(MOVE_TOKENS, org_id, moved.tokens),
    keys: onRows(MOVE_KEYS, org_id, moved.keys),
    aliases: onRows(ADD_ALIASES, org_id, aliases),
    stored: own.length === 0 ? undefined : ask<{ id: string }>(INSERT_ABSENT, [clicksLiteral(own)]),
  })
  const ids = new Set(stored.map(({ id }) => id))
  await flight(client, { ...sheetsOf(own.filter(({ id }) => ids.has(id))), commit: ask('commit') })
}

const onRows = <Row = never>(text: string, org_id: number, rows: readonly object[]) =>
  rows.length === 0 ? undefined : ask<Row>(text, [org_id, JSON.stringify(rows)])

const nameOf = ({ token, campaign_id }: { token: string; campaign_id: string | null }) => `${token} ${campaign_id}`

type VisitClick = Click & { readonly visit: PageVisit }
const hasVisit = (click: Click): click is VisitClick => click.visit !== undefined

/** The clicks that a page token names, in a fixed order, so that two transactions never wait for each other. */
function inFixedOrder(clicks: readonly Click[]): VisitClick[] {
  return clicks.filter(hasVisit).sort((a, b) => {
    const [one, other] = [a.visit.token, b.visit.token]
    return one < other || (one === other && String(a.campaign_id) < String(b.campaign_id)) ? -1 : 1
  })
}

const onTokens = (text: string, org_id: number, clicks: readonly VisitClick[]) =>
  clicks.length === 0 ? undefined : ask(text, [org_id, `{${clicks.map(visitLiteral).join(',')}}`])

/** A visit as an element of an array of the composite type: an array for each column takes the database half as long again, and JSON as well. */
function visitLiteral({ id, campaign_id, visit }: VisitClick): string {
  const { token, received_at, via, page, site, untracked_reason } = visit
  const [path, host] = [page, site].map(text => (text === null ? '' : quotedField(text)))
  return `"(${token},${campaign_id},${id},${received_at},${via},${path},${host},${untracked_reason ?? ''})"`
}

/** Begins the transaction, and claims the page tokens. */
async function joinByToken(client: pg.PoolClient, org_id: number, clicks: readonly Click[], joined: Joined) {
  const own = inFixedOrder(clicks)
  const rows = own.map(({ campaign_id, visit: { token } }) => ({ token, campaign_id }))
  const { held } = await flight(client, {
    begin: ask('begin'),
    claimed: onTokens(CLAIM_TOKENS, org_id, own),
    held: onRows<{ token: string; campaign_id: string; click_id: string }>(READ_TOKENS, org_id, rows),
  })
  const holders = new Map(held.map(row => [nameOf(row), row.click_id]))
  for (const click of clicks) {
    const { visit, campaign_id, id } = click
    const holder = visit === undefined ? undefined : holders.get(nameOf({ token: visit.token, campaign_id }))
    if (holder !== undefined && holder !== id) joined.set(click, holder)
  }
}

/** A claim of a key. */
type ClaimedKey = { readonly key: string; readonly click_id: string; readonly by_page: boolean }
type HeldKey = ClaimedKey & { readonly made_ms: number }
type KeysOfClicks = ReadonlyMap<Click, readonly string[]>

/**
 * Whether a click is a person's visit that does not count: over the pace, or of a paused or full campaign. It claims no key, and may turn out to be a
 * click that counts.
 */
const isUncountedVisit = ({ tracked, visit, click_flow_node_path }: Click): boolean =>
  !tracked && (visit?.untracked_reason === 'pace' || click_flow_node_path === PAUSED_PATH)

const looksForAnother = (click: Click): boolean => click.platform !== null && isUncountedVisit(click)

/** Whether a redirect's click may be one that a page reports too. A crawler's, a prefetch's or a test's never is. */
export const mayBeOfPage = (click: Click): boolean =>
  click.platform !== null && (click.tracked || isUncountedVisit(click))

/** The keys of each click that may be another one. */
const keysOf = (clicks: readonly Click[]): KeysOfClicks =>
  new Map(clicks.filter(mayBeOfPage).map(click => [click, platformKeys(click)]))

const madeMs = ({ id, visit }: Click): number => (visit === undefined ? timeOfId(id) : Date.parse(visit.received_at))

/** A claim of each key by its first click that counts, in a fixed order. */
function keyRows(keys: KeysOfClicks): (ClaimedKey & { made_at: string })[] {
  const claims = new Map<string, ClaimedKey & { made_at: string }>()
  for (const [click, own] of keys) {
    if (!click.tracked) continue
    const row = { click_id: click.id, by_page: click.way !== null, made_at: new Date(madeMs(click)).toISOString() }
    for (const key of own) if (!claims.has(key)) claims.set(key, { key, ...row })
  }
  return [...claims.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1))
}

/** Claims the ad platforms' click ids. A redirect and a page visit with the same one are the click that claimed it first. */
async function joinByPlatform(client: pg.PoolClient, org_id: number, clicks: readonly Click[], joined: Joined) {
  const moved: { tokens: object[]; keys: object[] } = { tokens: [], keys: [] }
  const ofClicks = keysOf(clicks.filter(click => !joined.has(click)))
  if (ofClicks.size === 0) return moved
  const { held } = await flight(client, {
    claimed: onRows(CLAIM_KEYS, org_id, keyRows(ofClicks)),
    held: ask<HeldKey>(READ_KEYS, [org_id, [...new Set([...ofClicks.values()].flat())]]),
  })
  const holders = new Map(held.map(row => [row.key, row]))
  // Clicks of this batch that were found to be an earlier click. A later click that finds one of them as holder gets the earlier click too.
  const becoming = new Map<string, Pick<HeldKey, 'click_id' | 'by_page'>>()
  for (const [click, keys] of ofClicks) {
    const other = keys.map(key => holders.get(key)).find(one => one !== undefined && isOther(one, click))
    if (other === undefined) continue
    const { click_id, by_page } = becoming.get(other.click_id) ?? other
    becoming.set(click.id, { click_id, by_page })
    joined.set(click, click_id)
    const { campaign_id, visit } = click
    if (visit !== undefined) moved.tokens.push({ token: visit.token, campaign_id, click_id })
    for (const key of keys) if (holders.get(key)?.click_id === click.id) moved.keys.push({ key, click_id, by_page })
  }
  return moved
}

/** Whether the holder of a key is another click, of the other way and of the same day. */
const isOther = ({ click_id, by_page, made_ms }: HeldKey, click: Click): boolean =>
  click_id !== click.id && by_page !== (click.way !== null) && Math.abs(madeMs(click) - made_ms) <= DAY_MS

const REDIRECTED = { clicks: 1 }
const SHOWN = { clicks: 1, landed: 1 }

/** The statements that count the clicks, in the transaction that stores them. */
function sheetsOf(clicks: readonly Click[]) {
  const [counters, sheet] = [new DeltaSheet(), new ClickSheet()]
  for (const click of clicks) {
    const { org_id, way, tracked } = click
    if (tracked) counters.add(org_id, cellOf(click), { ...(way === null ? REDIRECTED : SHOWN), ...costsOf(click) })
    if (way === null) sheet.addNew(org_id, click)
    else sheet.addReached(org_id, click, PAGE_STAGES)
  }
  const [deltas, born, shared] = [counters.statement(), sheet.statement(), sharedStatement(clicks)]
  return {
    deltas: deltas && ask(deltas.text, deltas.values),
    born: born && ask(born.text, born.values),
    shared: shared && ask(shared.text, shared.values),
  }
}
