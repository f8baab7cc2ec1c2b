// Amount and transaction id in postbacks: through the door, to a real receiver.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { eventually } from '../../../tests/support/eventually.ts'
import { useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { seedBot } from '../../../tests/support/intake.ts'
import { type Receiver, startReceiver } from '../../../tests/support/receiver.ts'
import { seedWorkspace } from '../../../tests/support/workspace.ts'

let house: TestHouse
let receiver: Receiver
let status = 200
before(async () => {
  house = await useHouse()
  receiver = await startReceiver((_, response) => void response.writeHead(status).end('answer'))
})
after(async () => {
  await house.end()
  await receiver.close()
})
afterEach(() => {
  status = 200
  receiver.arrivals.length = 0
})

const workspace = () => seedWorkspace(house, receiver)
const address = (path = 'm') => `${receiver.origin}/${path}?r={revenue}&c={currency}&t={txid}`
const inCents = () => `${receiver.origin}/cents?v={revenue_cents}&r={revenue}`
const arrived = () => receiver.arrivals.map(({ url }) => url)

test('a postback tells the amount as reports count it, the currency and the transaction id; what is missing is 0 or empty', async () => {
  const { click, convert, rule } = await workspace()
  await rule({ url: address() })
  const clickId = await click()
  const cases: [body: object, called: string][] = [
    [{ nonce: 'order 1/2', payout: '12.50' }, '/m?r=12.5&c=USD&t=order%201%2F2'],
    [{ nonce: 'b', payout: '0.1234567' }, '/m?r=0.123457&c=USD&t=b'],
    [{ nonce: 'c', payout: '1000000' }, '/m?r=1000000&c=USD&t=c'],
    [{ nonce: 'd', payout: '0' }, '/m?r=0&c=USD&t=d'],
    [{ nonce: 'e' }, '/m?r=0&c=USD&t=e'],
    [{}, '/m?r=0&c=USD&t='],
  ]
  for (const [body] of cases) await convert(clickId, body)
  await receiver.arrived(cases.length)
  assert.deepEqual(arrived().toSorted(), cases.map(([, called]) => called).toSorted())
})

test('a postback tells the amount in whole cents, rounded half up', async () => {
  const { click, convert, rule, post } = await workspace()
  const id = await rule({ url: inCents() })
  const clickId = await click()
  const cases: [payout: string, called: string][] = [
    ['12.50', '/cents?v=1250&r=12.5'],
    ['0.005', '/cents?v=1&r=0.005'],
    ['0.004999', '/cents?v=0&r=0.004999'],
    ['1000000', '/cents?v=100000000&r=1000000'],
    ['0', '/cents?v=0&r=0'],
  ]
  for (const [at, [payout]] of cases.entries()) await convert(clickId, { nonce: String(at), payout })
  await receiver.arrived(cases.length)
  assert.deepEqual(arrived().toSorted(), cases.map(([, called]) => called).toSorted())
  const fired = await post(`/api/postbacks/${id}/test`, { click_id: clickId })
  assert.match(String(fired['url']), /\/cents\?v=0&r=0$/)
})

test('an inherited payout is the amount, and a POST tells it in its body too', async () => {
  const { as, post, convert, rule } = await workspace()
  const url = 'https://shop.example/?c={click_id}'
  const offer = await post('/api/offers', { name: 'O', url, payout: '18.50' }, 201)
  const destination = { type: 'redirect', url }
  const campaign = await post('/api/campaigns', { name: 'O', destination, offer_id: offer['id'] }, 201)
  const visit = await house.call('GET', `/c/${String(campaign['key'])}`, {
    headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux x64) Chrome/130.0.0.0' },
  })
  const clickId = String(new URL(String(visit.headers.location)).searchParams.get('c'))
  const id = await rule({ url: address(), method: 'POST' })
  await convert(clickId, { nonce: 'n' })
  await receiver.arrived(1)
  assert.deepEqual([arrived(), receiver.arrivals[0]?.body], [['/m?r=18.5&c=USD&t=n'], 'r=18.5&c=USD&t=n'])
  // A test has the offer's payout for the type, and a made-up transaction id.
  const fired = await post(`/api/postbacks/${id}/test`, { click_id: clickId })
  assert.match(String(fired['url']), /\/m\?r=18\.5&c=USD&t=[0-9a-z]{26}$/)
  const ftd = await rule({ event_type: 'ftd', url: address() })
  const body = { name: 'O', url, payout: '18.50', payout_types: ['lead'] }
  assert.equal((await house.call('PUT', `/api/offers/${String(offer['id'])}`, { ...as, body })).statusCode, 200)
  assert.match(String((await post(`/api/postbacks/${ftd}/test`, { click_id: clickId }))['url']), /\/m\?r=0&/)
})

test('a rule that names none of them is called byte for byte as before', async () => {
  const { campaign_id, click, convert, rule } = await workspace()
  const subs = Array.from({ length: 9 }, (_, at) => `s${at + 1}={sub${at + 1}}`).join('&')
  const url = `${receiver.origin}/old/{sub1}?c={click_id}&t={event_type}&${subs}&r={ref_id}&i={event_id}&k={campaign_id}&o={offer_id}&g={geo}&at={timestamp}&p={payout}&x={nonce}&e={}&v=1.0#f`
  await rule({ url })
  const clickId = await click('sub1=a%20b&sub3=%C3%A9&ref_id=R%261')
  const event_id = await convert(clickId, { nonce: 'n', payout: '7' })
  await receiver.arrived(1)
  const { rows } = await house.database.reads.query<{ at: string }>(
    'select extract(epoch from created_at)::bigint::text as at from events where nonce = $1 and campaign_id is not null order by created_at desc limit 1',
    ['n'],
  )
  const expected = `/old/a%20b?c=${clickId}&t=lead&s1=a%20b&s2=&s3=%C3%A9&s4=&s5=&s6=&s7=&s8=&s9=&r=R%261&i=${event_id}&k=${campaign_id}&o=&g=&at=${rows[0]?.at}&p=&x=&e=&v=1.0`
  assert.deepEqual(arrived(), [expected])
})

test('a run over past conversions shows and tells the amount and the transaction', async () => {
  const { post, click, convert, rule } = await workspace()
  const clickId = await click()
  await convert(clickId, { nonce: 'past', payout: '3.10' })
  const id = await rule({ url: address('past') })
  const plan = await post(`/api/postbacks/${id}/backfill`, {})
  assert.deepEqual(
    (plan['calls'] as { url: string }[]).map(({ url }) => url),
    [`${receiver.origin}/past?r=3.1&c=USD&t=past`],
  )
  await post(`/api/postbacks/${id}/backfill`, { dry_run: false })
  await receiver.arrived(1)
  assert.deepEqual(arrived(), ['/past?r=3.1&c=USD&t=past'])
})

test('an amount that is filled in after a call was made is told by what is sent from then on', async () => {
  const { owner, post, click, rule, deliveries } = await workspace()
  const bot_id = await seedBot(house.database, owner.org_id, `amounts_${owner.org_id}_bot`)
  assert.ok(bot_id)
  await rule({ event_type: 'bot_start', url: address() })
  const clickId = await click()
  const payload = { telegram_user_id: 7, bot_username: `amounts_${owner.org_id}_bot` }
  const start = (body: object) => post('/api/events', { clickId, type: 'bot_start', payload, ...body }, 201)
  await start({ nonce: 'first' })
  await receiver.arrived(1)
  await start({ nonce: 'later', payout: '9' })
  await eventually('it is delivered', async () => (await deliveries('state=delivered')).length === 1)
  const [delivery] = await deliveries()
  await post(`/api/deliveries/${String(delivery?.['id'])}/resend`, {})
  await receiver.arrived(2)
  assert.deepEqual(arrived(), ['/m?r=0&c=USD&t=first', '/m?r=9&c=USD&t=first'])
})

test('every answer with a rule names the macros that are none', async () => {
  const { as, post } = await workspace()
  const url = 'https://tracker.example/{nope}?p={payout}&P={{PAYOUT}}&c={click_id}&q=%7Bquality%7D&e={}&b={foo-bar}'
  const { warnings, ...made } = await post('/api/postbacks', { event_type: 'lead', url }, 201)
  assert.deepEqual(made['unknown_macros'], ['nope', 'payout', 'quality', '', 'foo-bar'])
  assert.match(JSON.stringify(warnings), /unknown_macros.*\{nope\}, \{payout\}, \{quality\}/)
  const id = String(made['id'])
  assert.deepEqual((await house.call('GET', `/api/postbacks/${id}`, as)).data(), made)
  const list = (await house.call('GET', '/api/postbacks', as)).json<{ data: unknown[] }>().data
  assert.deepEqual(list, [made])
  const fixed = await house.call('PATCH', `/api/postbacks/${id}`, {
    ...as,
    body: { url: 'https://tracker.example/?p={revenue}&c={currency}&t={txid}&x={sub0}' },
  })
  assert.deepEqual(fixed.data()['unknown_macros'], ['sub0'])
})
