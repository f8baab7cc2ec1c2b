// Keys restricted to campaigns, right by right. A key can act on objects of listed campaigns only; an object that listed and other
// campaigns share needs both on the list; and nothing a restricted key creates extends its list.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ALL_RIGHTS, RIGHTS, type Right } from '../src/contract/rights.ts'
import { startHouse, type TestHouse } from './support/house.ts'
import { type SignedIn, seedSignedIn } from './support/people.ts'

type Body = Record<string, unknown>
type Method = 'POST' | 'PUT' | 'PATCH' | 'DELETE'
/** A campaign with its click flow, funnel and rule, and a click. */
type CampaignObjects = { campaign: string; flow: string; funnel: string; rule: string; click: string }
type Request = [method: Method, url: string, body?: Body]

const GRAPH = {
  nodes: [
    { id: 'in', type: 'entry' },
    { id: 'out', type: 'redirect', url: 'https://example.com/?c={click_id}' },
  ],
  edges: [{ from: 'in', to: 'out' }],
}
const FALLBACK = 'https://example.com/fallback'
const dayFromNow = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
const DAY = dayFromNow(0)
const WINDOW = `date_from=${dayFromNow(-1)}&date_to=${dayFromNow(2)}`

let house: TestHouse
let owner: SignedIn
let listed: CampaignObjects
let other: CampaignObjects
let shared: Pick<CampaignObjects, 'flow' | 'funnel'>

before(async () => {
  // Without a worker, so that only requests change anything.
  house = await startHouse({ ROLE: 'serve' })
  owner = await seedSignedIn(house)
  const offer = await make('/api/offers', { name: 'Offer', url: 'https://example.com/', payout: '2' })
  const offers = [{ offer_id: offer, weight: 1 }]
  const makeBoth = async () => ({
    flow: await make('/api/click-flows', { name: 'Flow', graph: GRAPH }),
    funnel: await make('/api/funnels', { name: 'Funnel', landings: [], offers }),
  })
  const over = (both: Pick<CampaignObjects, 'flow' | 'funnel'>) => [
    { type: 'funnel', funnel_id: both.funnel },
    { type: 'click_flow', click_flow_id: both.flow },
  ]
  shared = await makeBoth()
  const places = ['Listed', 'Other'].map(async name => {
    const own = await makeBoth()
    const [campaign = ''] = await Promise.all(
      // The first campaign has the click; the others only use the objects. Either all of them are on the list, or none.
      [{ type: 'redirect', url: 'https://example.com/?c={click_id}' }, ...over(own), ...over(shared)].map(destination =>
        make('/api/campaigns', { name, destination, fallback_url: FALLBACK, key: undefined }),
      ),
    )
    const rule = await make('/api/postbacks', {
      event_type: 'lead',
      url: 'https://example.com/?c={click_id}',
      method: 'GET',
      campaign_id: campaign,
    })
    return { ...own, campaign, rule, click: await clickOf(campaign) }
  })
  ;[listed, other] = (await Promise.all(places)) as [CampaignObjects, CampaignObjects]
})
after(() => house.end())

async function asOwner(method: Method | 'GET', url: string, body?: Body): Promise<Body> {
  const reply = await house.call(method, url, { cookie: owner.cookie, ...(body === undefined ? {} : { body }) })
  assert.ok(reply.statusCode < 300, `${method} ${url}: ${reply.body}`)
  return reply.data()
}

const make = async (url: string, body: Body): Promise<string> => String((await asOwner('POST', url, body))['id'])

async function clickOf(campaign: string): Promise<string> {
  const { key } = await asOwner('GET', `/api/campaigns/${campaign}`)
  const reply = await house.call('GET', `/c/${String(key)}`, {
    headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' },
  })
  return new URL(String(reply.headers['location'])).searchParams.get('c') ?? ''
}

/** The campaigns of a name: all that use the objects of that name. */
async function campaignsOf(name: string): Promise<string[]> {
  const { data } = (await asOwner('GET', '/api/campaigns')) as { data: { id: string; name: string }[] }
  return data.filter(campaign => campaign.name === name).map(({ id }) => id)
}

async function restrictedKey(right: Right): Promise<string> {
  const campaigns = await campaignsOf('Listed')
  const { id, secret } = (await asOwner('POST', '/api/api-keys', { name: right })) as { id: string; secret: string }
  await asOwner('PUT', `/api/api-keys/${id}/grant`, {
    organization_id: (await organizations())[0],
    [RIGHTS[right].tier]: [right],
    campaigns,
    confirmation: 'DELETE',
  })
  return secret
}

async function organizations(): Promise<string[]> {
  const { data } = (await asOwner('GET', '/api/organizations')) as { data: { id: string }[] }
  return data.map(({ id }) => id)
}

/** The requests of each right on these objects; deletions come last, so that the others still find them. */
const ACTS: Partial<
  Record<Right, (place: Pick<CampaignObjects, 'flow' | 'funnel'> & Partial<CampaignObjects>) => Request>
> = {
  events: ({ click }) => ['POST', '/api/events', { clickId: click, type: 'lead' }],
  'campaigns:update': ({ campaign }) => ['PATCH', `/api/campaigns/${campaign}`, { fallback_url: `${FALLBACK}/2` }],
  postbacks: ({ campaign }) => [
    'POST',
    '/api/postbacks',
    { event_type: 'ftd', url: 'https://example.com/', campaign_id: campaign },
  ],
  'postbacks:update': ({ rule }) => ['PATCH', `/api/postbacks/${rule}`, { active: false }],
  'ad-spend': ({ campaign }) => ['PUT', '/api/ad-spend', { campaign_id: campaign, day: DAY, amount: '5' }],
  'click-flows:publish': ({ flow }) => ['POST', `/api/click-flows/${flow}/publish`, {}],
  'click-flows:status': ({ flow }) => ['PUT', `/api/click-flows/${flow}/status`, { status: 'paused' }],
  'click-flows:delete': ({ flow }) => ['DELETE', `/api/click-flows/${flow}`],
  'funnels:delete': ({ funnel }) => ['DELETE', `/api/funnels/${funnel}`],
  'postbacks:delete': ({ rule }) => ['DELETE', `/api/postbacks/${rule}`],
  'campaigns:delete': ({ campaign }) => ['DELETE', `/api/campaigns/${campaign}`],
}
/** Rights that read, or create objects that belong to no campaign yet: each has its own test below. */
const APART: readonly Right[] = ['campaigns', 'click-flows', 'report', 'clicks']

test('every right that takes a campaign list is tried here', () => {
  const narrowed = ALL_RIGHTS.filter(right => RIGHTS[right].reach === 'campaigns')
  assert.deepEqual([...Object.keys(ACTS), ...APART].toSorted(), narrowed.toSorted())
})

/** Everything a key could have changed, as the owner reads it. */
async function everything(): Promise<string> {
  const paths = ['campaigns', 'funnels', 'click-flows', 'postbacks', 'events', 'ad-spend', 'deliveries']
  return JSON.stringify(await Promise.all(paths.map(path => asOwner('GET', `/api/${path}`))))
}

test('a restricted key reads clicks and totals of its campaigns only', async () => {
  const clicks = await house.call('GET', '/api/v1/clicks', { key: await restrictedKey('clicks') })
  const listedClicks = (clicks.data()['data'] as { id: string }[]).map(({ id }) => id)
  assert.deepEqual(listedClicks, [listed.click])
  const report = await restrictedKey('report')
  const read = async (more: string) =>
    house.call('GET', `/api/v1/report?dimension=campaign&${WINDOW}${more}`, {
      key: report,
    })
  assert.equal((await read('')).json<{ totals: { clicks: number } }>().totals.clicks, 1)
  const foreign = (await read(`&campaign_id=${other.campaign}`)).json<{ rows: unknown[]; totals: { clicks: number } }>()
  assert.deepEqual([foreign.rows, foreign.totals.clicks], [[], 0])
})

for (const [right, act] of Object.entries(ACTS) as [Right, NonNullable<(typeof ACTS)[Right]>][])
  test(`"${right}" with a campaign list acts only on listed campaigns and their objects`, async () => {
    const key = await restrictedKey(right)
    const send = async ([method, url, body]: Request) =>
      house.call(method, url, { key, ...(body === undefined ? {} : { body }) })
    const isOfObject = /flows|funnels/.test(right)
    const before = await everything()
    for (const place of isOfObject ? [other, shared] : [other]) {
      const reply = await send(act(place))
      assert.deepEqual([reply.statusCode, reply.data()['code']], [403, 'campaign_scope_forbidden'], reply.body)
    }
    assert.ok((await everything()) === before, 'something has changed')
    const reply = await send(act(listed))
    assert.ok(reply.statusCode < 300, reply.body)
  })

test('a restricted key cannot create a rule for all campaigns, nor change one into it', async () => {
  const [creating, editing] = [await restrictedKey('postbacks'), await restrictedKey('postbacks:update')]
  const rule = { event_type: 'lead', url: 'https://example.com/' }
  const created = await house.call('POST', '/api/postbacks', { key: creating, body: rule })
  assert.equal(created.data()['code'], 'campaign_scope_forbidden')
  const [campaign = ''] = await campaignsOf('Listed')
  const own = await make('/api/postbacks', { ...rule, method: 'GET', campaign_id: campaign })
  for (const campaign_id of [null, other.campaign]) {
    const edited = await house.call('PATCH', `/api/postbacks/${own}`, { key: editing, body: { campaign_id } })
    assert.equal(edited.data()['code'], 'campaign_scope_forbidden')
  }
})

test('a campaign that a restricted key creates is not added to its list', async () => {
  const flow = await house.call('POST', '/api/click-flows', {
    key: await restrictedKey('click-flows'),
    body: { name: 'Made by key', graph: GRAPH },
  })
  assert.equal(flow.statusCode, 201)
  const campaign = await house.call('POST', '/api/campaigns', {
    key: await restrictedKey('campaigns'),
    body: { name: 'Made by key', destination: { type: 'redirect', url: 'https://example.com/' } },
  })
  assert.equal(campaign.statusCode, 201)
  const changed = await house.call('PATCH', `/api/campaigns/${String(campaign.data()['id'])}`, {
    key: await restrictedKey('campaigns:update'),
    body: { name: 'Mine' },
  })
  assert.equal(changed.data()['code'], 'campaign_scope_forbidden')
})
