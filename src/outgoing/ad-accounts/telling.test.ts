// Conversions from the door to fakes of the platforms, which check what they get.
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { googleStatus } from '../../../tests/support/google-fake.ts'
import { toWireId } from '../../../tests/support/house.ts'
import { metaError } from '../../../tests/support/meta-fake.ts'
import {
  ACTION,
  accountOf,
  type AdPlatforms,
  CUSTOMER,
  callsOf,
  connectAdAccount,
  convert,
  type Delivery,
  deliveriesOf,
  inState,
  PIXEL,
  PIXEL_CODE,
  type Advertiser,
  seedAdvertiser,
  startAdPlatforms,
  untilDelivery,
  visit,
} from '../../../tests/support/advertisers.ts'
import { tiktokReply } from '../../../tests/support/tiktok-fake.ts'
import { BROWSER } from '../../../tests/support/visits.ts'
import { newId, timeOfId, toUuid } from '../../contract/ids.ts'
import { eraseAddresses } from '../../intake/clicks/ip-erasure.ts'
import { sha256 } from './hashing.ts'

let platforms: AdPlatforms
let meta: AdPlatforms['meta']
let tiktok: AdPlatforms['tiktok']
let google: AdPlatforms['google']
let house: AdPlatforms['house']
before(async () => {
  platforms = await startAdPlatforms()
  ;({ meta, tiktok, google, house } = platforms)
})
after(() => platforms.end())
afterEach(() => platforms.forget())

const settle = () => seedAdvertiser(platforms)

const historyOf = async (place: Advertiser, { id }: Delivery) =>
  await house.call('GET', `/api/deliveries/${id}`, { cookie: place.cookie })

async function personOf(event_id: string): Promise<string> {
  const { rows } = await house.database.reads.query<{ person_id: string }>(
    'select person_id from events where id = $1',
    [toUuid(event_id)],
  )
  return toWireId(rows[0]?.person_id ?? '')
}

describe('a conversion reaches its platform once', () => {
  test('Meta, by the fbclid of its click, with the value of the event map', async () => {
    const place = await settle()
    const account = await connectAdAccount(place, 'meta')
    const clickId = await visit(place, 'fbclid=IwAR0_aB-C.d')
    const event_id = await convert(place, clickId, {
      payout: 99,
      payload: { custom_data: { value: 1 }, email: 'a@b.de' },
    })
    const one = await untilDelivery(place, event_id, inState('delivered'))
    assert.deepEqual([one.kind, one.target_id, one.attempts], ['ad_account', account, 1])
    await convert(place, clickId, { payout: 99 })
    assert.equal((await deliveriesOf(place, event_id)).length, 1)
    assert.equal(callsOf(meta, event_id).length, 1)
    assert.deepEqual(meta.refusals, [])
    const [{ pixel_id, event, test_event_code } = assert.fail()] = meta.taken
    const { event_time, ...rest } = event
    assert.ok(Math.abs(event_time - Date.now() / 1000) < 60)
    assert.deepEqual([pixel_id, test_event_code], [PIXEL, undefined])
    assert.deepEqual(rest, {
      event_name: 'Lead',
      event_id,
      action_source: 'website',
      event_source_url: 'https://shop.example/offer',
      user_data: {
        external_id: [sha256(await personOf(event_id))],
        client_user_agent: BROWSER['user-agent'],
        fbc: `fb.1.${timeOfId(toUuid(clickId) ?? '')}.IwAR0_aB-C.d`,
      },
      custom_data: { value: 7.5, currency: 'EUR' },
    })
  })

  test('TikTok, by the ttclid, with the payout in USD', async () => {
    const place = await settle()
    await connectAdAccount(place, 'tiktok')
    const event_id = await convert(place, await visit(place, 'ttclid=E.C.P.abc'), { payout: '12.50' })
    await untilDelivery(place, event_id, inState('delivered'))
    assert.deepEqual(tiktok.refusals, [])
    const [{ pixel_code, event } = assert.fail()] = tiktok.taken
    const { event_time, user, ...rest } = event
    assert.ok(Math.abs(event_time - Date.now() / 1000) < 60)
    assert.deepEqual([pixel_code, user['ttclid']], [PIXEL_CODE, 'E.C.P.abc'])
    assert.deepEqual(rest, {
      event: 'Lead',
      event_id,
      properties: { value: 12.5, currency: 'USD' },
      page: { url: 'https://shop.example/offer' },
    })
  })

  test('Google, by the gclid, with one access token for many conversions', async () => {
    const place = await settle()
    await connectAdAccount(place, 'google')
    const ids = await Promise.all(
      Array.from({ length: 5 }, async (_, n) => convert(place, await visit(place, `gclid=Cj0-${n}`), { payout: n })),
    )
    for (const id of ids) await untilDelivery(place, id, inState('delivered'))
    assert.deepEqual(google.refusals, [])
    assert.deepEqual(new Set(google.taken.map(({ event }) => event.transactionId)), new Set(ids))
    assert.equal(google.taken.length, ids.length)
    assert.equal(google.given.count, 1)
    const { event, destination, consent, validateOnly } = google.taken.find(
      one => one.event.transactionId === ids[3],
    ) as (typeof google.taken)[0]
    assert.deepEqual([event.adIdentifiers, event['conversionValue'], event['currency']], [{ gclid: 'Cj0-3' }, 3, 'USD'])
    assert.deepEqual(destination['operatingAccount'], { accountType: 'GOOGLE_ADS', accountId: CUSTOMER })
    assert.deepEqual(
      [destination['productDestinationId'], consent, validateOnly],
      [ACTION, { adUserData: 'CONSENT_GRANTED' }, false],
    )
  })

  test('a start that two systems report is told once, under one id', async () => {
    const place = await settle()
    await connectAdAccount(place, 'tiktok')
    const bot = await house.call('POST', '/api/bots', {
      cookie: place.cookie,
      body: { username: `b${newId().replaceAll('-', '').slice(0, 20)}_bot`, token: `123456:${'a'.repeat(35)}` },
    })
    assert.equal(bot.statusCode, 201, bot.body)
    const clickId = await visit(place, 'ttclid=E.C.P.start')
    const start = (nonce: string, more: object = {}) =>
      convert(place, clickId, {
        type: 'bot_start',
        nonce,
        payload: { telegram_user_id: 4242, bot_id: bot.data()['id'] },
        ...more,
      })
    const event_id = await start('a')
    assert.equal(await start('b', { payout: 5 }), event_id)
    const { attempts } = await untilDelivery(place, event_id, inState('delivered'))
    assert.equal(attempts, 1)
    assert.deepEqual(
      tiktok.taken.map(({ event }) => [event.event, event.event_id]),
      [['Lead', event_id]],
    )
  })
})

describe('what an answer means', () => {
  test('a passing failure is tried again under the same event id', async () => {
    const place = await settle()
    await connectAdAccount(place, 'meta')
    let failed = 0
    meta.answer(() =>
      failed++ === 0 ? { status: 500, body: metaError(2, undefined, { is_transient: true }).body } : undefined,
    )
    const event_id = await convert(place, await visit(place, 'fbclid=again'))
    const { attempts } = await untilDelivery(place, event_id, inState('delivered'))
    assert.equal(attempts, 2)
    const calls = callsOf(meta, event_id)
    assert.equal(calls.length, 2)
    assert.equal(new Set(calls.map(({ body }) => body)).size, 1)
  })

  test('what TikTok cannot take now, it says behind a 200: a fault of its own, no redirect', async () => {
    const place = await settle()
    await connectAdAccount(place, 'tiktok')
    tiktok.answer(() => tiktokReply(40_100, 'too many requests'))
    const event_id = await convert(place, await visit(place, 'ttclid=x'))
    const { reason } = await untilDelivery(place, event_id, ({ failure }) => failure === 'http_5xx')
    assert.match(reason, /40100/)
    // No delivery may be retried during later tests.
    tiktok.answer(undefined)
    await untilDelivery(place, event_id, inState('delivered'))
  })

  test('what the platform will never take is given up at once, with its words', async () => {
    const place = await settle()
    await connectAdAccount(place, 'tiktok')
    tiktok.answer(() => tiktokReply(40_002, 'data.0.event: not allowed for this pixel'))
    const refused = await convert(place, await visit(place, 'ttclid=x'))
    const { reason, attempts } = await untilDelivery(place, refused, inState('failed'))
    assert.deepEqual([reason, attempts], ['TikTok 40002: data.0.event: not allowed for this pixel', 1])
    assert.equal(callsOf(tiktok, refused).length, 1)
  })

  test('Google’s refusal of one conversion names the field and leaves the account active', async () => {
    const place = await settle()
    const id = await connectAdAccount(place, 'google', { event_map: { lead: { name: '404' }, ftd: { name: ACTION } } })
    const event_id = await convert(place, await visit(place, 'gclid=x'))
    const { reason } = await untilDelivery(place, event_id, inState('failed'))
    assert.match(reason, /INVALID_CONVERSION_ACTION_ID.*product_destination_id/)
    await untilDelivery(
      place,
      await convert(place, await visit(place, 'gclid=y'), { type: 'ftd' }),
      inState('delivered'),
    )
    assert.equal((await accountOf(place, id))['state'], 'active')
  })

  test('a dead token breaks its account alone; what waited is sent once the token is renewed', async () => {
    const place = await settle()
    const neighbour = await settle()
    const [broken, healthy] = [await connectAdAccount(place, 'meta'), await connectAdAccount(neighbour, 'meta')]
    delete platforms.tokens['meta-token-good']
    const first = await convert(place, await visit(place, 'fbclid=one'))
    await untilDelivery(place, first, one => one.failure === 'disconnected')
    const { state, state_reason } = await accountOf(place, broken)
    assert.equal(state, 'broken')
    assert.match(String(state_reason), /^Meta 190\/463: .*Session has expired/)
    const history = await house.call('GET', `/api/history?kind=ad_account&id=${broken}&actor=sluice`, {
      cookie: place.cookie,
    })
    assert.deepEqual(
      history.json<{ data: { fields: object[] }[] }>().data.map(({ fields }) => fields),
      [[{ name: 'state', before: 'active', after: 'broken' }]],
    )
    platforms.tokens['meta-token-good'] = [PIXEL]
    const second = await convert(place, await visit(place, 'fbclid=two'))
    await untilDelivery(
      neighbour,
      await convert(neighbour, await visit(neighbour, 'fbclid=three')),
      inState('delivered'),
    )
    assert.equal((await accountOf(neighbour, healthy))['state'], 'active')
    assert.equal(
      (await untilDelivery(place, second, () => true)).attempts,
      0,
      'nothing is tried over a dead connection',
    )
    const renewed = await house.call('PATCH', `/api/ad-accounts/${broken}`, {
      cookie: place.cookie,
      body: { platform: 'meta', credentials: { access_token: 'meta-token-next' } },
    })
    assert.deepEqual([renewed.data()['state'], renewed.data()['state_reason']], ['active', null])
    for (const event_id of [first, second]) await untilDelivery(place, event_id, inState('delivered'))
    const told = meta.taken.map(({ event }) => event.event_id)
    for (const event_id of [first, second]) assert.equal(told.filter(id => id === event_id).length, 1)
  })

  test('a refusal of the old token does not break an account that has a new one since', async () => {
    const place = await settle()
    const id = await connectAdAccount(place, 'meta')
    const renewed = Promise.withResolvers<undefined>()
    meta.answer(async ({ body }) => {
      if (!body.includes('meta-token-good')) return undefined
      await renewed.promise
      return metaError(190, 463)
    })
    const event_id = await convert(place, await visit(place, 'fbclid=late'))
    await untilDelivery(place, event_id, ({ attempts }) => attempts === 1)
    const body = { platform: 'meta', credentials: { access_token: 'meta-token-next' } }
    const { updated_at } = (await house.call('PATCH', `/api/ad-accounts/${id}`, { cookie: place.cookie, body })).data()
    renewed.resolve(undefined)
    await untilDelivery(place, event_id, inState('delivered'))
    const account = await accountOf(place, id)
    assert.deepEqual([account['state'], account['updated_at']], ['active', updated_at])
    assert.equal(meta.taken.length, 1)
  })

  test('an account whose credential cannot be read holds up nobody else', async () => {
    const place = await settle()
    const [damaged] = [await connectAdAccount(place, 'meta'), await connectAdAccount(place, 'tiktok')]
    await house.database.worker.query('update ad_accounts set credential = $2 where id = $1', [toUuid(damaged), 'torn'])
    const lost = await convert(place, await visit(place, 'fbclid=x'))
    await untilDelivery(place, await convert(place, await visit(place, 'ttclid=x')), inState('delivered'))
    assert.match((await untilDelivery(place, lost, inState('skipped'))).reason, /cannot be read/)
  })

  test('a service account that Google refuses breaks the account; a token that ended early is fetched anew', async () => {
    const place = await settle()
    const id = await connectAdAccount(place, 'google')
    await untilDelivery(place, await convert(place, await visit(place, 'gclid=a')), inState('delivered'))
    google.tokens.clear()
    const late = await untilDelivery(place, await convert(place, await visit(place, 'gclid=b')), inState('delivered'))
    assert.equal(late.attempts, 2)
    google.tokens.clear()
    // The answer repeats the JWT, which is as good as the key for an hour.
    google.answer(({ url, body }) => {
      const statement = new URLSearchParams(body).get('assertion')
      const error_description = `Invalid JWT Signature: ${statement}.`
      return url === '/token' ? { status: 400, body: { error: 'invalid_grant', error_description } } : undefined
    })
    await untilDelivery(
      place,
      await convert(place, await visit(place, 'gclid=c')),
      one => one.failure === 'disconnected',
    )
    const { state, state_reason } = await accountOf(place, id)
    assert.deepEqual(
      [state, state_reason],
      ['broken', 'Google issued no access token: invalid_grant: Invalid JWT Signature: [secret].'],
    )
  })

  test('an account without permission is broken, whichever platform says so', async () => {
    const place = await settle()
    const ids = [await connectAdAccount(place, 'tiktok'), await connectAdAccount(place, 'google')]
    tiktok.answer(() => tiktokReply(40_105, 'Access token is incorrect or has been revoked.'))
    google.answer(({ url }) => (url === '/token' ? undefined : googleStatus(403, 'PERMISSION_DENIED', 'No permission')))
    for (const query of ['ttclid=x', 'gclid=x'])
      await untilDelivery(place, await convert(place, await visit(place, query)), one => one.failure === 'disconnected')
    for (const id of ids) assert.equal((await accountOf(place, id))['state'], 'broken')
  })

  test('what waits for an account that is switched off is skipped, and so is what is too old', async () => {
    const place = await settle()
    const id = await connectAdAccount(place, 'tiktok')
    tiktok.answer(() => tiktokReply(40_105, 'revoked'))
    const event_id = await convert(place, await visit(place, 'ttclid=x'))
    await untilDelivery(place, event_id, one => one.failure === 'disconnected')
    const old = await convert(place, await visit(place, 'ttclid=y'))
    const long_ago = new Date(Date.now() - 8 * 86_400_000).toISOString()
    await house.database.worker.query('update events set created_at = $2 where id = $1', [toUuid(old), long_ago])
    tiktok.answer(undefined)
    const set = (state: string) =>
      house.call('PATCH', `/api/ad-accounts/${id}`, { cookie: place.cookie, body: { platform: 'tiktok', state } })
    await set('active')
    await untilDelivery(place, event_id, inState('delivered'))
    assert.match((await untilDelivery(place, old, inState('skipped'))).reason, /older than the 7 days/)
    tiktok.answer(() => tiktokReply(40_105, 'revoked'))
    const waiting = await convert(place, await visit(place, 'ttclid=z'))
    await untilDelivery(place, waiting, one => one.failure === 'disconnected')
    await set('off')
    assert.equal((await untilDelivery(place, waiting, inState('skipped'))).reason, 'the ad account is switched off')
    const afterwards = await convert(place, await visit(place, 'ttclid=z2'))
    assert.deepEqual(await deliveriesOf(place, afterwards), [])
  })
})

test('Google is asked later what became of a conversion; nobody else is, and nobody else’s', async () => {
  const place = await settle()
  const account = await connectAdAccount(place, 'google')
  const meta_account = await connectAdAccount(place, 'meta')
  const one = await untilDelivery(place, await convert(place, await visit(place, 'gclid=later')), inState('delivered'))
  const outcome = (id: string, delivery: string, cookie = place.cookie) =>
    house.call('GET', `/api/ad-accounts/${id}/outcomes/${delivery}`, { cookie })
  const said = async () => (await outcome(account, one.id)).data()
  assert.deepEqual(await said(), { state: 'processing', reasons: [] })
  Object.assign(google.outcome, { status: 'SUCCESS', reasons: [] })
  assert.deepEqual(await said(), { state: 'counted', reasons: [] })
  Object.assign(google.outcome, { status: 'FAILED', reasons: ['CLICK_NOT_FOUND'] })
  assert.deepEqual(await said(), { state: 'refused', reasons: ['CLICK_NOT_FOUND'] })
  Object.assign(google.outcome, { status: 'PARTIAL_SUCCESS', reasons: ['DUPLICATE_TRANSACTION_ID'] })
  assert.deepEqual(await said(), { state: 'counted', reasons: ['DUPLICATE_TRANSACTION_ID'] })
  google.answer(({ url }) => (url === '/token' ? undefined : googleStatus(503, 'UNAVAILABLE', 'Try later.')))
  assert.deepEqual(await said(), { state: 'unknown', reasons: ['Try later.'] })
  assert.equal((await accountOf(place, account))['state'], 'active')
  const other = await untilDelivery(
    place,
    await convert(place, await visit(place, 'fbclid=later')),
    inState('delivered'),
  )
  assert.equal((await outcome(meta_account, other.id)).statusCode, 400)
  assert.equal((await outcome(meta_account, one.id)).statusCode, 404)
  assert.equal((await outcome(account, 'nonsense')).statusCode, 404)
  assert.equal((await outcome(account, one.id, (await settle()).cookie)).statusCode, 404)
})

describe('what must stay secret', () => {
  test('neither token nor address is in the log of attempts, and what the platform echoes is struck out', async () => {
    const place = await settle()
    const settings = { pixel_id: PIXEL, keeps_ip: true, sends_contact: true }
    const account = await connectAdAccount(place, 'meta', { settings })
    const clickId = await visit(place, 'fbclid=secret', account)
    meta.answer(call => metaError(100, 2_804_007, { message: `bad: ${call.body}` }))
    const event_id = await convert(place, clickId, { payload: { email: 'Max@Example.com', phone: '+49 151 23456789' } })
    const failed = await untilDelivery(place, event_id, inState('failed'))
    const [call = assert.fail()] = meta.calls
    assert.ok(call.body.includes('meta-token-good') && call.body.includes('203.0.114.77'))
    assert.ok(call.body.includes(sha256('max@example.com')) && call.body.includes(sha256('4915123456789')))
    const { body } = await historyOf(place, failed)
    assert.ok(body.includes('event_name'))
    for (const secret of ['meta-token-good', '203.0.114.77']) assert.equal(body.includes(secret), false, secret)
    const { rows } = await house.database.reads.query<{ row: string }>(
      `select a::text as row from delivery_attempts a union all select d::text from deliveries d union all select c::text from clicks c`,
    )
    for (const secret of ['meta-token-good', '203.0.114.77'])
      assert.equal(JSON.stringify(rows).includes(secret), false, secret)
  })

  test('an address is kept only where the campaign’s account wants it, and for seven days', async () => {
    const place = await settle()
    const wants = await connectAdAccount(place, 'tiktok', { settings: { pixel_code: PIXEL_CODE, keeps_ip: true } })
    const plain = await connectAdAccount(place, 'meta')
    const keptOf = async (clickId: string) => {
      const { rows } = await house.database.reads.query<{ kept: Buffer | null }>(
        'select ip_encrypted as kept from clicks where org_id = $1 and id = $2',
        [place.org_id, toUuid(clickId)],
      )
      return rows[0]?.kept ?? null
    }
    const kept = await visit(place, 'ttclid=x', wants, '::ffff:203.0.114.5')
    const sealed = await keptOf(kept)
    assert.equal(sealed && house.ground.secrets.open(sealed), '203.0.114.5')
    assert.equal(await keptOf(await visit(place, 'ttclid=x')), null)
    assert.equal(await keptOf(await visit(place, 'fbclid=x', plain)), null)
    const changed = await house.call('PATCH', `/api/ad-accounts/${wants}`, {
      cookie: place.cookie,
      body: { platform: 'tiktok', settings: { pixel_code: PIXEL_CODE } },
    })
    assert.equal(changed.statusCode, 200)
    assert.equal(await keptOf(await visit(place, 'ttclid=x', wants)), null)
    const made = timeOfId(toUuid(kept) ?? '')
    const day = 86_400_000
    await eraseAddresses(house.database.worker, made + 7 * day - 1000)
    assert.ok((await keptOf(kept)) !== null)
    await eraseAddresses(house.database.worker, made + 7 * day + 1)
    assert.equal(await keptOf(kept), null)
  })
})

describe('a test event', () => {
  const testEvent = async (place: Advertiser, id: string, body: object) =>
    await house.call('POST', `/api/ad-accounts/${id}/test`, { cookie: place.cookie, body })

  test('is sent under its test code, shown with its answer, and recorded nowhere', async () => {
    const place = await settle()
    const codes = { test_event_code: 'TEST123' }
    const accounts = [
      await connectAdAccount(place, 'meta'),
      await connectAdAccount(place, 'tiktok'),
      await connectAdAccount(place, 'google'),
    ]
    for (const id of accounts) {
      const reply = await testEvent(place, id, { event_type: 'lead', ...codes })
      assert.equal(reply.statusCode, 200, reply.body)
      const { accepted, reason, status, sent } = reply.data()
      assert.deepEqual([accepted, reason, status], [true, null, 200])
      assert.match(String(sent), /"(event|event_name|transactionId)":/)
      assert.doesNotMatch(reply.body, /meta-token|tiktok-token|ya29|PRIVATE/)
    }
    assert.deepEqual(meta.taken[0]?.test_event_code, 'TEST123')
    assert.ok(tiktok.taken.some(({ test_event_code }) => test_event_code === 'TEST123'))
    assert.equal(google.taken[0]?.validateOnly, true)
    const { rows } = await house.database.reads.query('select 1 from deliveries where org_id = $1', [place.org_id])
    assert.deepEqual(rows, [])
  })

  test('takes the values of a click, and says why it was not sent or not accepted', async () => {
    const place = await settle()
    const [id, other] = [await connectAdAccount(place, 'meta'), await connectAdAccount(place, 'google')]
    const click_id = await visit(place, 'fbclid=IwTest')
    const code = { test_event_code: 'TEST123' }
    await testEvent(place, id, { event_type: 'purchase', click_id, ...code })
    assert.equal(meta.taken[0]?.event.event_name, 'Purchase')
    assert.match(String(meta.taken[0]?.event.user_data['fbc']), /\.IwTest$/)
    const unmapped = await testEvent(place, id, { event_type: 'custom_3', ...code })
    assert.deepEqual([unmapped.data()['accepted'], unmapped.data()['sent']], [false, null])
    assert.match(
      String((await testEvent(place, other, { event_type: 'lead', click_id })).data()['reason']),
      /Google click id/,
    )
    meta.answer(() => metaError(190, 463))
    const refused = await testEvent(place, id, { event_type: 'lead', ...code })
    assert.match(String(refused.data()['reason']), /^Meta 190/)
    assert.equal((await accountOf(place, id))['state'], 'active')
    const calls = meta.calls.length
    for (const body of [
      { event_type: 'lead' },
      { event_type: 'x', ...code },
      { event_type: 'lead', click_id: toWireId(newId()), ...code },
    ])
      assert.equal((await testEvent(place, id, body)).statusCode, 400)
    const stranger = await settle()
    const foreign = await connectAdAccount(stranger, 'meta')
    assert.match((await testEvent(stranger, foreign, { event_type: 'lead', click_id, ...code })).body, /no such click/)
    assert.equal(meta.calls.length, calls)
  })
})
