// Ad accounts connected through the API to fakes of their platforms, and the conversions reported to them.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { toUuid } from '../../src/contract/ids.ts'
import { type GoogleFake, startGoogle } from './google-fake.ts'
import { seedKey, startHouse, type TestHouse } from './house.ts'
import { type MetaTaken, startMeta } from './meta-fake.ts'
import { type SignedIn, seedSignedIn } from './people.ts'
import type { Fake } from './platform-fake.ts'
import type { Arrival } from './receiver.ts'
import { startTikTok, type TikTokTaken } from './tiktok-fake.ts'
import { BROWSER } from './visits.ts'

export const PIXEL = '1234567890'
export const PIXEL_CODE = 'C4ABCDEF'
export const CUSTOMER = '1112223334'
export const ACTION = '77001'

export type AdPlatforms = {
  meta: Fake<MetaTaken>
  tiktok: Fake<TikTokTaken>
  google: GoogleFake
  /** The pixels that each of Meta's tokens may report to; a removed token is invalid. */
  tokens: Record<string, string[]>
  house: TestHouse
  /** Restores the fakes' own answers and empties their records. */
  forget: () => void
  end: () => Promise<void>
}

/** The three platforms, each with one account, and a house that reports conversions to them. */
export async function startAdPlatforms(): Promise<AdPlatforms> {
  const tokens: Record<string, string[]> = { 'meta-token-good': [PIXEL], 'meta-token-next': [PIXEL] }
  const meta = await startMeta(tokens)
  const tiktok = await startTikTok({ 'tiktok-token-good': [PIXEL_CODE] })
  const google = await startGoogle({ [CUSTOMER]: [ACTION] })
  const fakes = [meta, tiktok, google]
  const house = await startHouse({
    META_GRAPH_BASE: meta.origin,
    TIKTOK_API_BASE: tiktok.origin,
    GOOGLE_DM_BASE: google.origin,
    GOOGLE_TOKEN_URL: google.tokenUrl,
    // The operator's own addresses are trusted even if rules may not call private ones.
    ALLOW_PRIVATE_TARGETS: 'false',
    TRUST_PROXY: '127.0.0.1',
  })
  return {
    meta,
    tiktok,
    google,
    tokens,
    house,
    forget() {
      for (const fake of fakes) {
        fake.answer(undefined)
        fake.calls.length = 0
        fake.taken.length = 0
        fake.refusals.length = 0
      }
    },
    async end() {
      await house.end()
      for (const fake of fakes) await fake.close()
    },
  }
}

const ACCOUNTS = {
  meta: () => ({
    platform: 'meta',
    name: 'Pixel',
    settings: { pixel_id: PIXEL },
    credentials: { access_token: 'meta-token-good' },
    event_map: {
      lead: { name: 'Lead', custom_data: { value: '7.5', currency: 'EUR' } },
      purchase: { name: 'Purchase', custom_data: { value: '30', currency: 'USD' } },
    },
  }),
  tiktok: () => ({
    platform: 'tiktok',
    name: 'TikTok',
    settings: { pixel_code: PIXEL_CODE },
    credentials: { access_token: 'tiktok-token-good' },
  }),
  google: ({ key }: GoogleFake) => ({
    platform: 'google',
    name: 'Google',
    settings: { customer_id: CUSTOMER, ad_user_data: 'granted' },
    credentials: { service_account: key },
    event_map: { lead: { name: ACTION } },
  }),
}

/** An organization that reports to these platforms: its owner's session, and a key that records conversions. */
export type Advertiser = SignedIn & { key: string; platforms: AdPlatforms }
export async function seedAdvertiser(platforms: AdPlatforms): Promise<Advertiser> {
  const { house } = platforms
  const owner = await seedSignedIn(house)
  return { ...owner, key: (await seedKey(house.database, owner, { rights: ['events'] })).secret, platforms }
}

/** Connects an account. Returns its id. */
export async function connectAdAccount(
  { cookie, platforms: { house, google } }: Advertiser,
  platform: keyof typeof ACCOUNTS,
  changed: object = {},
): Promise<string> {
  const reply = await house.call('POST', '/api/ad-accounts', {
    cookie,
    body: { ...ACCOUNTS[platform](google), ...changed },
  })
  assert.equal(reply.statusCode, 201, reply.body)
  return String(reply.data()['id'])
}

/** A visit through a new campaign. Returns the click's id. */
export async function visit(
  { cookie, platforms: { house } }: Advertiser,
  query: string,
  ad_account_id: string | null = null,
  ip = '203.0.114.77',
): Promise<string> {
  const destination = { type: 'redirect', url: 'https://shop.example/offer?c={click_id}' }
  const body = { name: 'Campaign', destination, ad_account_id }
  const campaign = await house.call('POST', '/api/campaigns', { cookie, body })
  assert.equal(campaign.statusCode, 201, campaign.body)
  const headers = { ...BROWSER, 'x-forwarded-for': ip }
  const { location } = (await house.call('GET', `/c/${String(campaign.data()['key'])}?${query}`, { headers })).headers
  return new URL(String(location)).searchParams.get('c') ?? ''
}

/** Records a conversion, by default a lead. Returns its id. */
export async function convert(
  { key, platforms: { house } }: Advertiser,
  clickId: string,
  fields: object = {},
): Promise<string> {
  const reply = await house.call('POST', '/api/events', { key, body: { clickId, type: 'lead', ...fields } })
  assert.equal(reply.statusCode, 201, reply.body)
  return String(reply.data()['id'])
}

export type Delivery = Record<'id' | 'state' | 'reason' | 'failure' | 'target_id' | 'kind', string> & {
  attempts: number
}
export const deliveriesOf = async ({ cookie, platforms: { house } }: Advertiser, event_id: string) =>
  (await house.call('GET', `/api/deliveries?event_id=${event_id}`, { cookie })).data()['data'] as Delivery[]

/** The calls for an event, without retries of earlier tests. */
export const callsOf = ({ calls }: { calls: readonly Arrival[] }, event_id: string) =>
  calls.filter(({ body }) => body.includes(event_id))

/** Makes a delivery's next attempt due at once; the waits are tested with schedule.ts. */
const hasten = ({ house }: AdPlatforms, id: string) =>
  house.database.worker.query(
    "update deliveries set run_at = now() where id = $1 and state = 'pending' and lease_token is null and run_at > now()",
    [toUuid(id)],
  )

/** Waits until the delivery of an event is in a state. */
export async function untilDelivery(
  place: Advertiser,
  event_id: string,
  isReached: (one: Delivery) => boolean,
): Promise<Delivery> {
  const deadline = performance.now() + 60_000
  for (;;) {
    const [one, ...others] = await deliveriesOf(place, event_id)
    assert.equal(others.length, 0)
    if (one !== undefined && isReached(one)) return one
    assert.ok(performance.now() < deadline, `waited too long: ${JSON.stringify(one)}`)
    if (one !== undefined && one.attempts > 0) await hasten(place.platforms, one.id)
    await sleep(20)
  }
}
export const inState = (state: string) => (one: Delivery) => one.state === state
export const accountOf = async ({ cookie, platforms: { house } }: Advertiser, id: string) =>
  (await house.call('GET', `/api/ad-accounts/${id}`, { cookie })).data()
