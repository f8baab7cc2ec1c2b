// Refusals of conversions: every refusal of the contract that the deed makes, in its order, and that nothing is recorded then.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { seedKey, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedBot, seedPlainCampaign, seedClick, tally } from '../../../tests/support/intake.ts'
import { seedSender, seedSenderWithClick } from '../../../tests/support/senders.ts'
import { newId } from '../../contract/ids.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

const settle = () => seedSender(house)
const settleWithClick = () => seedSenderWithClick(house)
const send = ({ key }: { key: string }, body: unknown) => house.call('POST', '/api/events', { key, body })
const tallyOf = ({ org_id }: { org_id: number }) => tally(house.database, org_id)

describe('a body that does not fit is refused 400, names the field and what is allowed, and records nothing', () => {
  const wrong: [string, (good: Record<string, unknown>) => unknown, RegExp][] = [
    ['no object', () => [], /./],
    ['no body', () => undefined, /./],
    ['clickId missing', ({ clickId: _, ...rest }) => rest, /clickId.*click id/],
    ['clickId null', good => ({ ...good, clickId: null }), /clickId/],
    ['clickId a number', good => ({ ...good, clickId: 5 }), /clickId/],
    ['clickId empty', good => ({ ...good, clickId: '' }), /clickId/],
    ['type missing', ({ type: _, ...rest }) => rest, /type.*click, land, bot_start/],
    ['type unknown', good => ({ ...good, type: 'Lead' }), /type.*custom_8/],
    ...[
      -0.01,
      1_000_000.01,
      '1000000.000001',
      'NaN',
      'Infinity',
      '0x10',
      ' ',
      '',
      ' 5',
      '5 ',
      '1_000',
      '1e3',
      '+5',
      '-1',
      '.5',
      '5.',
      true,
      [],
      {},
    ].map((payout): (typeof wrong)[number] => [
      `payout ${JSON.stringify(payout)}`,
      good => ({ ...good, payout }),
      /payout.*0 to 1,000,000/,
    ]),
    ...['', 'x'.repeat(129), '😀'.repeat(129), 5, {}, false].map((nonce): (typeof wrong)[number] => [
      `nonce ${JSON.stringify(nonce).slice(0, 12)}`,
      good => ({ ...good, nonce }),
      /nonce/,
    ]),
    ...['text', 5, [], true].map((payload): (typeof wrong)[number] => [
      `payload ${JSON.stringify(payload)}`,
      good => ({ ...good, payload }),
      /payload.*object/,
    ]),
    ...[1.5, true, {}, [5], 'x'.repeat(129)].map((telegram_user_id): (typeof wrong)[number] => [
      `telegram_user_id ${JSON.stringify(telegram_user_id).slice(0, 12)}`,
      good => ({ ...good, payload: { telegram_user_id } }),
      /payload\.telegram_user_id/,
    ]),
  ]

  for (const [name, change, words] of wrong) {
    test(name, async () => {
      const place = await settleWithClick()
      const answer = await send(place, change({ clickId: place.clickId, type: 'lead' }))
      assert.equal(answer.statusCode, 400, answer.body)
      assert.equal(answer.data()['code'], undefined)
      assert.match(String(answer.data()['error']), words)
      assert.equal((await tallyOf(place)).events, 0)
    })
  }

  const hostile: [string, string][] = [
    ['1e400', '{"clickId":"ID","type":"lead","payout":1e400}'],
    ['unsafe integer', '{"clickId":"ID","type":"lead","payload":{"telegram_user_id":9007199254740993}}'],
    ['U+0000 in the nonce', '{"clickId":"ID","type":"lead","nonce":"a\\u0000"}'],
    ['a half surrogate pair in the nonce', '{"clickId":"ID","type":"lead","nonce":"\\ud800"}'],
    ['U+0000 in the payload', '{"clickId":"ID","type":"lead","payload":{"a":["\\u0000"]}}'],
    ['a number in the payload that no JSON can hold', '{"clickId":"ID","type":"lead","payload":{"a":[1e400]}}'],
    ['a half surrogate pair in a key of the payload', '{"clickId":"ID","type":"lead","payload":{"a":{"\\udfff":1}}}'],
    ['__proto__', '{"clickId":"ID","type":"lead","payload":{"__proto__":{"x":1}}}'],
    ['escaped __proto__', '{"clickId":"ID","type":"lead","payload":{"\\u005f_proto__":{"x":1}}}'],
    ['constructor.prototype', '{"clickId":"ID","type":"lead","payload":{"constructor":{"prototype":{}}}}'],
    ['nesting of 33 levels', `{"clickId":"ID","type":"lead","payload":{"a":${'['.repeat(31)}${']'.repeat(31)}}}`],
    ['half a million levels', `{"clickId":"ID","type":"lead","payload":${'['.repeat(500_000)}`],
  ]
  for (const [name, text] of hostile) {
    test(name, async () => {
      const place = await settleWithClick()
      const payload = text.replace('ID', place.clickId)
      const answer = await house.call('POST', '/api/events', {
        key: place.key,
        payload,
        headers: { 'content-type': 'application/json' },
      })
      assert.equal(answer.statusCode, 400, answer.body)
      assert.equal((await tallyOf(place)).events, 0)
    })
  }

  test('a payload of 60,000 keys, as large as a body may be, is stored and answered as it was sent', async () => {
    const place = await settleWithClick()
    const payload = Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`k${n}`, n % 3 === 0 ? `v${n}` : n]))
    const answer = await send(place, { clickId: place.clickId, type: 'lead', payload })
    assert.equal(answer.statusCode, 201, answer.body)
    assert.deepEqual(answer.data()['payload'], payload)
    const again = await send(place, { clickId: place.clickId, type: 'lead' })
    assert.deepEqual(again.data()['payload'], payload)
  })

  test('and what is just allowed passes', async () => {
    const place = await settleWithClick()
    const deepest = { a: JSON.parse(`${'['.repeat(30)}${']'.repeat(30)}`) as unknown }
    const passing = [
      { payload: deepest },
      { payload: {} },
      { payout: '0' },
      { payload: null, payout: null },
      { payload: { bot_id: 5, bot_username: {} } },
    ]
    for (const [at, more] of passing.entries())
      assert.equal(
        (await send(place, { clickId: place.clickId, type: 'lead', nonce: String(at), ...more })).statusCode,
        201,
      )
    assert.equal((await tallyOf(place)).events, passing.length)
  })
})

describe('the ad platform’s own block', () => {
  test('is removed from the payload, and only at its top', async () => {
    const place = await settleWithClick()
    const answer = await send(place, {
      clickId: place.clickId,
      type: 'lead',
      payload: { custom_data: { value: 1 }, a: { custom_data: 2 } },
    })
    assert.deepEqual(answer.data()['payload'], { a: { custom_data: 2 } })
    const { rows } = await house.database.reads.query<{ payload: string }>(
      'select payload::text from events where org_id = $1',
      [place.org_id],
    )
    assert.equal(rows[0]?.payload, '{"a":{"custom_data":2}}')
  })
})

describe('a click that cannot be used', () => {
  test('is refused 403 with only an error, the same whether unknown, no id, or someone else’s', async () => {
    const place = await settle()
    const stranger = await settleWithClick()
    const answers = []
    for (const clickId of [toWireId(newId()), '{click_id}', ' ', stranger.clickId, 'x'.repeat(100_000)]) {
      const answer = await send(place, { clickId, type: 'lead' })
      assert.equal(answer.statusCode, 403)
      answers.push(answer.body)
    }
    assert.deepEqual([...new Set(answers)], ['{"error":"click not found"}'])
    assert.equal((await tallyOf(place)).events, 0)
    assert.equal((await tallyOf(stranger)).events, 0)
  })
})

describe('a key restricted to campaigns', () => {
  test('is refused outside of them with a code and no hint, also for a click without a campaign, and on a replay', async () => {
    const place = await settle()
    const [inside, outside] = [
      await seedPlainCampaign(house.database, place.org_id),
      await seedPlainCampaign(house.database, place.org_id),
    ]
    const { secret } = await seedKey(house.database, place, { rights: ['events'], campaigns: [inside] })
    const clicks = []
    for (const campaign_id of [inside, outside, null])
      clicks.push(toWireId(await seedClick(house.database, place.org_id, { campaign_id })))
    const [good, foreign, bare] = clicks
    assert.equal((await send({ key: secret }, { clickId: good, type: 'lead' })).statusCode, 201)
    await send(place, { clickId: foreign, type: 'deposit' })
    const before = await tallyOf(place)
    for (const body of [
      { clickId: foreign, type: 'lead' },
      { clickId: bare, type: 'lead' },
      { clickId: foreign, type: 'deposit' },
    ]) {
      const answer = await send({ key: secret }, body)
      assert.equal(answer.statusCode, 403)
      assert.equal(answer.data()['code'], 'campaign_scope_forbidden')
      assert.equal(answer.data()['hint'], undefined)
    }
    assert.deepEqual(await tallyOf(place), before)
  })

  test('gets a replay by the event’s own campaign, also when the click is gone', async () => {
    const place = await settle()
    const campaign = await seedPlainCampaign(house.database, place.org_id)
    const { secret } = await seedKey(house.database, place, { rights: ['events'], campaigns: [campaign] })
    const click_id = await seedClick(house.database, place.org_id, { campaign_id: campaign })
    const body = { clickId: toWireId(click_id), type: 'lead' }
    await send({ key: secret }, body)
    await house.database.reads.query('delete from clicks where org_id = $1', [place.org_id])
    assert.equal((await send({ key: secret }, body)).statusCode, 201)
  })
})

describe('the order of refusals', () => {
  test('validation comes before the click, the click before the bot, the bot before the scope', async () => {
    const place = await settle()
    const campaign = await seedPlainCampaign(house.database, place.org_id)
    const { secret: key } = await seedKey(house.database, place, { rights: ['events'], campaigns: [campaign] })
    const outside = toWireId(await seedClick(house.database, place.org_id))
    const start = { type: 'bot_start', payload: { telegram_user_id: 1, bot_username: 'nobody' } }
    const answers = [
      await send({ key }, { clickId: '{click_id}', type: 'nonsense' }),
      await send({ key }, { clickId: '{click_id}', type: 'bot_start' }),
      await send({ key }, { clickId: '{click_id}', ...start }),
      await send({ key }, { clickId: outside, ...start }),
      await send({ key }, { clickId: outside, type: 'lead' }),
    ]
    assert.deepEqual(
      answers.map(answer => [answer.statusCode, answer.data()['code'] ?? answer.data()['error']]),
      [
        [400, answers[0]?.data()['error']],
        [422, 'bot_start_missing_telegram_user_id'],
        [403, 'click not found'],
        [403, 'bot not found'],
        [403, 'campaign_scope_forbidden'],
      ],
    )
  })
})

test('a bot of another organization names none of ours', async () => {
  const [place, stranger] = [await settleWithClick(), await settle()]
  const foreign = await seedBot(house.database, stranger.org_id, 'their_bot')
  for (const payload of [{ bot_id: toWireId(foreign) }, { bot_username: 'their_bot' }]) {
    const answer = await send(place, {
      clickId: place.clickId,
      type: 'bot_start',
      payload: { telegram_user_id: 1, ...payload },
    })
    assert.deepEqual([answer.statusCode, answer.body], [403, '{"error":"bot not found"}'])
  }
  assert.equal((await tallyOf(place)).events, 0)
})
