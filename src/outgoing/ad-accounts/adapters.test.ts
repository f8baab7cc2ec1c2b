// What each platform gets for the same conversion, and the judgement of its answers.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { googleStatus } from '../../../tests/support/google-fake.ts'
import { metaError } from '../../../tests/support/meta-fake.ts'
import type { Reply } from '../../../tests/support/platform-fake.ts'
import { tiktokReply } from '../../../tests/support/tiktok-fake.ts'
import type { CallAnswer } from '../deliveries/lane.ts'
import type { ConversionToSend, RenderedEvent } from './adapter.ts'
import type { GoogleSettings, MetaSettings, TikTokSettings } from './api.ts'
import { pageUrlOf } from './conversion.ts'
import { judgeGoogle, renderGoogle } from './google.ts'
import { sha256 } from './hashing.ts'
import { judgeMeta, renderMeta } from './meta.ts'
import { judgeTikTok, renderTikTok } from './tiktok.ts'

const DAY_MS = 86_400_000
const HAPPENED_MS = Date.parse('2026-11-20T10:00:00.250Z')
const NOW = HAPPENED_MS + 1000

const click = {
  made_ms: HAPPENED_MS - 3_600_000,
  fbclid: 'IwAR2x_Ab-C.~d',
  gclid: 'Cj0KCQ',
  gbraid: '0AAAA',
  wbraid: 'CmoK',
  ttclid: 'E.C.P.x',
  user_agent: 'Mozilla/5.0',
  ip: '203.0.114.9',
}
const conversion = (fields: Partial<ConversionToSend> = {}): ConversionToSend => ({
  event_id: '01h455vb4pex5vsknk084sn02q',
  type: 'ftd',
  happened_ms: HAPPENED_MS,
  payout: '12.5',
  person_id: '01h455vb4pex5vsknk084sn02r',
  is_chat: false,
  page_url: 'https://shop.example/offer',
  contact: { email: 'John_Smith@gmail.com', phone: '+1 (650) 555-1212' },
  click,
  ...fields,
})
const without = (...fields: (keyof typeof click)[]) =>
  conversion({ click: { ...click, ...Object.fromEntries(fields.map(field => [field, null])) } })

const eventOf = (rendered: RenderedEvent) => {
  assert.ok('event' in rendered, JSON.stringify(rendered))
  return rendered.event
}
const skipOf = (rendered: RenderedEvent) => ('skip' in rendered ? rendered.skip : undefined)

const answer = ({ status, body }: Reply): CallAnswer => ({
  status,
  headers: {},
  body: typeof body === 'string' ? body : JSON.stringify(body),
  error: null,
})
const NONE: CallAnswer = { status: null, headers: {}, body: '', error: 'no answer within 10 s' }
const PAGE: Reply = { status: 502, body: '<html>Bad Gateway</html>' }

describe('Meta', () => {
  const settings: MetaSettings = {
    pixel_id: '1234567890',
    use_payout_as_value: false,
    action_source: 'automatic',
    website_url: null,
    keeps_ip: true,
    sends_contact: true,
  }
  const purchase = { name: 'Purchase', custom_data: { value: '30', currency: 'EUR', content_name: 'Spins' } }
  const render = (one = conversion(), changed: Partial<MetaSettings> = {}, mapped: object = purchase, now = NOW) =>
    renderMeta({ ...settings, ...changed }, mapped as typeof purchase, one, now)

  test('is told the event with its page, its browser and the hashes it matches by', () => {
    assert.deepEqual(eventOf(render()), {
      event_name: 'Purchase',
      event_time: Math.floor(HAPPENED_MS / 1000),
      event_id: '01h455vb4pex5vsknk084sn02q',
      action_source: 'website',
      event_source_url: 'https://shop.example/offer',
      user_data: {
        external_id: [sha256('01h455vb4pex5vsknk084sn02r')],
        em: ['62a14e44f765419d10fea99367361a727c12365e2520f32218d505ed9aa0f62f'],
        ph: [sha256('16505551212')],
        client_ip_address: '203.0.114.9',
        client_user_agent: 'Mozilla/5.0',
        fbc: `fb.1.${click.made_ms}.IwAR2x_Ab-C.~d`,
      },
      custom_data: { value: 30, currency: 'EUR', content_name: 'Spins' },
    })
  })

  test('takes its value from the custom data, and the payout only where the account says so', () => {
    const worth = (changed: Partial<MetaSettings>, one = conversion()) => eventOf(render(one, changed))['custom_data']
    assert.deepEqual(worth({}), { value: 30, currency: 'EUR', content_name: 'Spins' })
    assert.deepEqual(worth({ use_payout_as_value: true }), { value: 12.5, currency: 'USD', content_name: 'Spins' })
    const unpaid = conversion({ payout: null })
    assert.deepEqual(worth({ use_payout_as_value: true }, unpaid), {
      value: 30,
      currency: 'EUR',
      content_name: 'Spins',
    })
    const plain = { name: 'Lead' }
    assert.equal(eventOf(render(conversion(), {}, plain))['custom_data'], undefined)
    assert.match(skipOf(render(unpaid, { use_payout_as_value: true }, { name: 'Purchase' })) ?? '', /needs a value/)
  })

  test('is told nothing of a person that was not asked for, and no click id that has expired', () => {
    const user = (one: ConversionToSend, changed = {}) => eventOf(render(one, changed))['user_data']
    assert.deepEqual(Object.keys(user(conversion(), { sends_contact: false }) as object), [
      'external_id',
      'client_ip_address',
      'client_user_agent',
      'fbc',
    ])
    assert.deepEqual(user(without('fbclid', 'ip', 'user_agent'), { sends_contact: false }), {
      external_id: [sha256('01h455vb4pex5vsknk084sn02r')],
    })
    const old = conversion({ click: { ...click, made_ms: NOW - 91 * DAY_MS } })
    assert.equal('fbc' in (user(old) as object), false)
  })

  test('hears where it happened: on a website only with its page and browser', () => {
    const source = (one: ConversionToSend, changed = {}) => eventOf(render(one, changed))['action_source']
    assert.equal(source(conversion({ is_chat: true })), 'chat')
    assert.equal(source(conversion({ type: 'subscription_renewed' })), 'system_generated')
    assert.equal(source(without('user_agent')), 'system_generated')
    assert.equal(source(conversion({ page_url: null })), 'system_generated')
    assert.equal(source(conversion({ is_chat: true }), { action_source: 'website' }), 'website')
    assert.equal(source(conversion(), { action_source: 'other' }), 'other')
  })

  test('is not told what is older than seven days, which would refuse the request', () => {
    assert.equal(skipOf(render(conversion(), {}, purchase, HAPPENED_MS + 7 * DAY_MS - 120_000)), undefined)
    assert.match(skipOf(render(conversion(), {}, purchase, HAPPENED_MS + 7 * DAY_MS)) ?? '', /7 days/)
  })

  test('says in its code what becomes of an event, whatever the status', () => {
    const outcome = (reply: Reply) => judgeMeta(answer(reply)).outcome
    assert.equal(outcome({ status: 200, body: { events_received: 1, messages: [], fbtrace_id: 'x' } }), 'delivered')
    for (const code of [190, 102, 3, 10, 200, 294]) assert.equal(outcome(metaError(code)), 'broken', String(code))
    assert.equal(outcome(metaError(190, 463)), 'broken')
    assert.equal(outcome(metaError(100, 33)), 'broken')
    for (const code of [1, 2, 4, 17, 341, 368, 613, 5000, 21009, 80003, 80004])
      assert.equal(outcome(metaError(code)), 'retry', String(code))
    assert.equal(outcome(metaError(100, 2804003)), 'failed')
    assert.equal(outcome(metaError(100)), 'failed')
    assert.equal(outcome({ ...metaError(105), status: 500 }), 'failed')
    assert.equal(outcome(metaError(100, 2804001, { is_transient: true })), 'retry')
    assert.equal(outcome(metaError(987654)), 'retry', 'an unknown code is tried again')
    assert.equal(outcome(metaError(987654, 2804003)), 'failed', 'a subcode of the Conversions API says enough')
    for (const subcode of [33, 2803999, 2805000])
      assert.equal(outcome(metaError(987654, subcode)), 'retry', String(subcode))
    const words = { error_user_title: 'Bad event', error_user_msg: 'No name' }
    assert.deepEqual(judgeMeta(answer(metaError(100, 2804003, words))), {
      outcome: 'failed',
      reason: 'Meta 100/2804003: Bad event: No name',
    })
    assert.equal(outcome(PAGE), 'retry')
    assert.equal(outcome({ status: 200, body: '<html></html>' }), 'retry')
    assert.deepEqual(judgeMeta(NONE), { outcome: 'retry', reason: 'no answer within 10 s' })
  })
})

describe('TikTok', () => {
  const settings: TikTokSettings = { pixel_code: 'C4ABC', website_url: null, keeps_ip: true, sends_contact: true }
  const render = (one = conversion(), changed: Partial<TikTokSettings> = {}, now = NOW) =>
    renderTikTok({ ...settings, ...changed }, { name: 'Purchase' }, one, now)

  test('is told the event with the payout in USD, and a telephone number hashed with its +', () => {
    assert.deepEqual(eventOf(render()), {
      event: 'Purchase',
      event_time: Math.floor(HAPPENED_MS / 1000),
      event_id: '01h455vb4pex5vsknk084sn02q',
      user: {
        ttclid: 'E.C.P.x',
        external_id: sha256('01h455vb4pex5vsknk084sn02r'),
        email: '62a14e44f765419d10fea99367361a727c12365e2520f32218d505ed9aa0f62f',
        phone: sha256('+16505551212'),
        ip: '203.0.114.9',
        user_agent: 'Mozilla/5.0',
      },
      properties: { value: 12.5, currency: 'USD' },
      page: { url: 'https://shop.example/offer' },
    })
    assert.equal('properties' in eventOf(render(conversion({ payout: null }))), false)
  })

  test('is not told what it could match with nobody, or what is too old', () => {
    assert.match(skipOf(render(without('ttclid', 'ip'), { sends_contact: false })) ?? '', /match/)
    assert.equal(skipOf(render(without('ttclid'), { sends_contact: false })), undefined)
    assert.match(skipOf(render(conversion(), {}, HAPPENED_MS + 8 * DAY_MS)) ?? '', /7 days/)
  })

  test('says in its code what becomes of an event, under HTTP 200', () => {
    const outcome = (code: number, data: unknown = {}) => judgeTikTok(answer(tiktokReply(code, 'words', data))).outcome
    assert.equal(outcome(0), 'delivered')
    assert.equal(outcome(20001), 'delivered')
    assert.equal(outcome(20001, { failed_events: [{ order_in_list: 0 }] }), 'failed')
    for (const code of [40001, 40102, 40104, 40105]) assert.equal(outcome(code), 'broken', String(code))
    assert.equal(outcome(40002), 'failed')
    for (const code of [40100, 50000, 51305, 40999]) assert.equal(outcome(code), 'retry', String(code))
    assert.equal(judgeTikTok(answer(PAGE)).outcome, 'retry')
    assert.equal(judgeTikTok(answer({ status: 200, body: '{}' })).outcome, 'retry')
    assert.equal(judgeTikTok(NONE).outcome, 'retry')
  })
})

describe('Google', () => {
  const settings: GoogleSettings = {
    customer_id: '1234567890',
    login_customer_id: null,
    ad_user_data: 'granted',
    ad_personalization: 'unspecified',
    sends_contact: false,
  }
  const render = (one = conversion(), changed: Partial<GoogleSettings> = {}, now = NOW) =>
    renderGoogle({ ...settings, ...changed }, one, now)

  test('is told the event under exactly one click id, with the payout in USD', () => {
    assert.deepEqual(eventOf(render()), {
      transactionId: '01h455vb4pex5vsknk084sn02q',
      eventTimestamp: '2026-11-20T10:00:00.250Z',
      eventSource: 'WEB',
      adIdentifiers: { gclid: 'Cj0KCQ' },
      conversionValue: 12.5,
      currency: 'USD',
    })
    assert.deepEqual(eventOf(render(without('gclid')))['adIdentifiers'], { wbraid: 'CmoK' })
    assert.deepEqual(eventOf(render(without('gclid', 'wbraid')))['adIdentifiers'], { gbraid: '0AAAA' })
  })

  test('is told a contact only where the account sends it, and nothing without any identifier', () => {
    const none = without('gclid', 'wbraid', 'gbraid')
    assert.match(skipOf(render(none)) ?? '', /Google click id/)
    assert.deepEqual(eventOf(render(none, { sends_contact: true }))['userData'], {
      userIdentifiers: [{ emailAddress: sha256('john_smith@gmail.com') }, { phoneNumber: sha256('+16505551212') }],
    })
    const late = conversion({ click: { ...click, made_ms: HAPPENED_MS - 91 * DAY_MS } })
    assert.match(skipOf(render(late)) ?? '', /90 days/)
  })

  test('says by its status and reasons what becomes of an event', () => {
    const outcome = (reply: Reply) => judgeGoogle(answer(reply)).outcome
    const invalid = (reason: string) => googleStatus(400, 'INVALID_ARGUMENT', 'Bad', { reason })
    assert.equal(outcome({ status: 200, body: { requestId: 'r' } }), 'delivered')
    assert.equal(outcome({ status: 200, body: {} }), 'retry')
    assert.equal(outcome(googleStatus(403, 'PERMISSION_DENIED', 'No')), 'broken')
    assert.equal(outcome(invalid('NOT_ALLOWLISTED')), 'broken')
    assert.equal(outcome(invalid('OPERATING_ACCOUNT_LOGIN_ACCOUNT_MISMATCH')), 'broken')
    for (const reason of ['INVALID_CONVERSION_ACTION_ID', 'EVENT_TIME_INVALID', 'NO_IDENTIFIERS_PROVIDED'])
      assert.equal(outcome(invalid(reason)), 'failed', reason)
    for (const status of [401, 429, 500, 503, 504]) assert.equal(outcome(googleStatus(status, 'X', 'x')), 'retry')
    assert.equal(outcome(PAGE), 'retry')
    const violations = [
      { field: 'events.events[0].currency', description: 'no currency', reason: 'INVALID_CURRENCY_CODE' },
    ]
    const { reason } = judgeGoogle(answer(googleStatus(400, 'X', 'Bad', { fieldViolations: violations }))) as {
      reason: string
    }
    assert.match(reason, /INVALID_CURRENCY_CODE.*events\.events\[0\]\.currency/)
  })
})

test('the page of an address has neither query nor macros, and Telegram’s links are no page', () => {
  assert.equal(pageUrlOf('https://shop.example/{geo}/x?c={click_id}#y'), 'https://shop.example//x')
  assert.equal(pageUrlOf('https://shop.example/?c={click_id}'), 'https://shop.example/')
  for (const none of ['https://t.me/bot?start={click_id}', 'https://x.telegram.me/y', 'nonsense', null])
    assert.equal(pageUrlOf(none), null)
})
