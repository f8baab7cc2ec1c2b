// Seeds offers, campaigns, rules, bots and clicks for conversions directly in the database, and reads the results.
import { newId } from '../../src/contract/ids.ts'
import type { Database } from '../../src/ground/db/connect.ts'
import { cellOf, DeltaSheet } from '../../src/intake/counters/deltas.ts'

const now = () => new Date().toISOString()

/** An offer; `payout` is a decimal string or null. Returns its id. */
export async function seedOffer(
  { kysely }: Database,
  org_id: number,
  { payout = null, payout_types = [] }: { payout?: string | null; payout_types?: string[] } = {},
): Promise<string> {
  const id = newId()
  const row = { org_id, id, name: 'Offer', url: 'https://offer.example/?c={click_id}', payout, payout_types }
  await kysely
    .insertInto('offers')
    .values({ ...row, status: 'active', created_at: now(), updated_at: now() })
    .execute()
  return id
}

/** A campaign that redirects, without a link of its own. Returns its id. */
export async function seedPlainCampaign(
  { kysely }: Database,
  org_id: number,
  { offer_id = null, ad_account_id = null }: { offer_id?: string | null; ad_account_id?: string | null } = {},
): Promise<string> {
  const id = newId()
  const destination = JSON.stringify({ type: 'redirect', url: 'https://shop.example/' })
  const row = { org_id, id, name: 'Campaign', key: id, destination, offer_id, ad_account_id, source: '{}' }
  await kysely
    .insertInto('campaigns')
    .values({ ...row, strict_filter: false, created_at: now(), updated_at: now() })
    .execute()
  return id
}

/** A live postback rule. Returns its id. */
export async function seedRule(
  { kysely }: Database,
  org_id: number,
  {
    event_type,
    campaign_id = null,
    active = true,
    url = 'https://tracker.example/?c={click_id}',
  }: { event_type: string; campaign_id?: string | null; active?: boolean; url?: string },
): Promise<string> {
  const id = newId()
  const row = { org_id, id, event_type, url, method: 'GET', campaign_id, active }
  await kysely
    .insertInto('postback_rules')
    .values({ ...row, created_at: now(), updated_at: now() })
    .execute()
  return id
}

/** A bot that Telegram does not know; `token` is sealed. Returns its id. */
export async function seedBot(
  { kysely }: Database,
  org_id: number,
  username: string,
  token: Buffer = Buffer.from('sealed'),
): Promise<string> {
  const id = newId()
  await kysely
    .insertInto('bots')
    .values({
      org_id,
      id,
      username,
      username_key: username.toLowerCase(),
      token,
      created_at: now(),
    })
    .execute()
  return id
}

export type ClickFields = {
  campaign_id?: string | null
  offer_id?: string | null
  visitor_id?: string | null
  bot_id?: string | null
  tracked?: boolean
  test?: boolean
  geo?: string | null
  sub1?: string | null
  /** The ad platform whose click id it has. */
  platform?: string | null
  /** When it was made, Unix ms. */
  at?: number
}

/** Clicks without further stages, counted in the report like real ones. Returns their ids. */
export async function seedClicks(
  { intake, kysely }: Database,
  org_id: number,
  count: number,
  click: ClickFields | ((at: number) => ClickFields) = {},
): Promise<string[]> {
  const sheet = new DeltaSheet()
  const rows = Array.from({ length: count }, (_, at) => {
    const {
      campaign_id = null,
      offer_id = null,
      visitor_id = null,
      bot_id = null,
      test = false,
      tracked = !test,
      geo = 'DE',
      sub1 = null,
      platform = null,
      at: ms,
    } = typeof click === 'function' ? click(at) : click
    const id = newId(ms)
    if (tracked) sheet.add(org_id, cellOf({ id, campaign_id, offer_id, geo, sub1 }), { clicks: 1 })
    return { org_id, id, campaign_id, offer_id, visitor_id, bot_id, tracked, test, geo, sub1, platform }
  })
  const plain = { status: 0, stages: 1, suppressed_delivery: false }
  for (let from = 0; from < rows.length; from += 1000) {
    const portion = rows.slice(from, from + 1000).map(row => ({ ...row, ...plain }))
    await kysely.insertInto('clicks').values(portion).execute()
  }
  const deltas = sheet.statement()
  if (deltas !== undefined) await intake.query(deltas.text, [...(deltas.values ?? [])])
  return rows.map(row => row.id)
}

/** Seeds one click; returns its id. */
export async function seedClick(database: Database, org_id: number, click: ClickFields = {}): Promise<string> {
  const [id = ''] = await seedClicks(database, org_id, 1, click)
  return id
}

type RecordedCounts = { events: number; aliases: number; charges: number; deliveries: number; balance: string }

/** Counts what is recorded for an organization; a refusal must not change it. */
export async function tally({ reads }: Database, org_id: number): Promise<RecordedCounts> {
  const { rows } = await reads.query<RecordedCounts>(
    `select (select count(*)::int from events where org_id = $1) as events,
      (select count(*)::int from event_aliases where org_id = $1) as aliases,
      (select count(*)::int from ledger where org_id = $1 and kind = 'charge') as charges,
      (select count(*)::int from deliveries where org_id = $1) as deliveries,
      (select trim_scale(balance) from balances where org_id = $1) as balance`,
    [org_id],
  )
  return rows[0] as RecordedCounts
}

/** The mutable columns of a click. */
export async function readClick({ reads }: Database, org_id: number, id: string) {
  const { rows } = await reads.query<{
    status: number
    stages: number
    tracked: boolean
    revenue: string | null
    bot_id: string | null
  }>('select status, stages, tracked, revenue, bot_id from clicks where org_id = $1 and id = $2', [org_id, id])
  return rows[0]
}
