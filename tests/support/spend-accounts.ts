// Shared by tests of spend accounts: fakes of both platforms' reports on loopback, and a house that reads accounts only on demand.
import assert from 'node:assert/strict'
import type { Sub } from '../../src/contract/fields.ts'
import type { SpendAccount, SpendAccountRead } from '../../src/money/spend-accounts/api.ts'
import { syncDueAccounts } from '../../src/money/spend-accounts/worker.ts'
import type { Database } from '../../src/ground/db/connect.ts'
import { startHouse, type TestHouse } from './house.ts'
import { seedClicks } from './intake.ts'
import { startMetaInsights } from './meta-insights-fake.ts'
import { type SignedIn, seedSignedIn } from './people.ts'
import { type AdHour, emptyBooks } from './spend-fakes.ts'
import { startTikTokReports } from './tiktok-report-fake.ts'
import { seedCampaign } from './visits.ts'

export const TOKEN = 'a-token-that-reads'
export const META = '1234567890'
export const TIKTOK = '7012345678901234567'

/** Starts both platforms, each with one account in US dollars and a token that may read it. */
export async function startPlatforms(timezone = 'UTC') {
  const [books, tiktokBooks] = [emptyBooks(), emptyBooks()]
  const begun = { timezone, currency: 'USD' }
  books.accounts[META] = { ...begun }
  books.tokens[TOKEN] = { accounts: [META], may_read: true }
  tiktokBooks.accounts[TIKTOK] = { ...begun }
  tiktokBooks.tokens[TOKEN] = { accounts: [TIKTOK], may_read: true }
  const [meta, tiktok] = [await startMetaInsights(books), await startTikTokReports(tiktokBooks)]
  const env = { META_GRAPH_BASE: meta.origin, TIKTOK_API_BASE: tiktok.origin }
  return { meta, tiktok, books, tiktokBooks, env, close: () => Promise.all([meta.close(), tiktok.close()]) }
}
export type Platforms = Awaited<ReturnType<typeof startPlatforms>>

/** A house that serves requests and reads accounts only on demand. */
export const startServing = (platforms: Platforms): Promise<TestHouse> =>
  startHouse({ ROLE: 'serve', ...platforms.env })

export type SpendPlace = SignedIn & { campaign_id: string; campaign_key: string }

export async function seedSpendPlace(house: TestHouse): Promise<SpendPlace> {
  const owner = await seedSignedIn(house)
  const { id, key } = await seedCampaign(house.database, owner.org_id)
  return { ...owner, campaign_id: id, campaign_key: key }
}

const DRAFT = { provider: 'meta', name: 'Main', external_id: META, access_token: TOKEN, id_in: 'sub2', level: 'ad' }

/** Connects an account through the door. Returns its id. */
export async function connectSpendAccount(house: TestHouse, { cookie }: SignedIn, draft: object = {}): Promise<string> {
  const reply = await house.call('POST', '/api/spend-accounts', { cookie, body: { ...DRAFT, ...draft } })
  assert.equal(reply.statusCode, 201, reply.body)
  return String(reply.data()['id'])
}

export async function readSpendAccount(house: TestHouse, { cookie }: SignedIn, id: string): Promise<SpendAccountRead> {
  const reply = await house.call('GET', `/api/spend-accounts/${id}`, { cookie })
  assert.equal(reply.statusCode, 200, reply.body)
  return reply.json<SpendAccountRead>()
}

/** Makes an account due and reads all due accounts, as a process would at `now`. */
export async function syncSpendAccount(house: TestHouse, { cookie }: SignedIn, id: string, now: number, body = {}) {
  const reply = await house.call('POST', `/api/spend-accounts/${id}/sync`, { cookie, body })
  assert.equal(reply.statusCode, 200, reply.body)
  assert.equal(await syncDueAccounts(house.ground, { now }), 1)
  return reply.json<SpendAccount>()
}

/** Inserts clicks of a campaign at a moment with these subs. */
export async function seedClicksWithSubs(
  database: Database,
  { org_id, campaign_id }: { org_id: number; campaign_id: string },
  { sub1, ...subs }: Partial<Record<Sub, string>>,
  { at, count = 1, tracked = true }: { at: number; count?: number; tracked?: boolean },
): Promise<void> {
  const ids = await seedClicks(database, org_id, count, { campaign_id, sub1: sub1 ?? null, at, tracked })
  for (const [name, value] of Object.entries(subs))
    await database.worker.query(`update clicks set ${name} = $3 where org_id = $1 and id = any($2)`, [
      org_id,
      ids,
      value,
    ])
}

/** An hour of spend of an ad of META. */
export const adHour = (day: string, hour: number, ad: string, amount: string, more: Partial<AdHour> = {}): AdHour => ({
  account: META,
  day,
  hour,
  ad,
  adset: `${ad}1`,
  campaign: `${ad}2`,
  amount,
  ...more,
})

/** The spend booked from accounts of an organization, as texts of day, campaign, sub1 and amount. */
export async function bookedSpend({ reads }: Database, org_id: number): Promise<string[]> {
  const { rows } = await reads.query<{ day: string; campaign_id: string; sub1: string; amount: string }>(
    `select day, campaign_id, sub1, trim_scale(amount) as amount from booked_spend where org_id = $1 and origin like 'account:%'
    order by day, campaign_id, sub1`,
    [org_id],
  )
  return rows.map(({ day, campaign_id, sub1, amount }) => `${day} ${campaign_id} ${sub1 || '-'} ${amount}`)
}
