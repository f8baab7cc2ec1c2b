// Requests that probably mean something else: by tool and over HTTP they are refused, or answered with a warning.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ALL_RIGHTS } from '../src/contract/rights.ts'
import { seedKey, type TestHouse, useHouse } from './support/house.ts'
import { type SignedIn, seedSignedIn } from './support/people.ts'
import { callTool } from './support/tools.ts'
import { BROWSER } from './support/visits.ts'

type Body = Record<string, unknown>
type Warning = { code: string; field: string; message: string }
type Answer = Body & { id: string; warnings: Warning[] }

let house: TestHouse
let owner: SignedIn
let key: string
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
  key = (await seedKey(house.database, owner, { rights: ALL_RIGHTS })).secret
})
after(() => house.end())

/** The result of a tool, refused or not. */
async function byTool(name: string, args: Body): Promise<Answer> {
  return (await callTool(house, key, `service_${name}`, args)).structuredContent as never
}

/** The answer to a key over HTTP. */
async function byHttp(
  method: 'POST' | 'PUT' | 'PATCH' | 'GET' | 'DELETE',
  path: string,
  body?: Body,
): Promise<Answer & { status: number }> {
  const reply = await house.call(method, path, { key, ...(body === undefined ? {} : { body }) })
  return { status: reply.statusCode, ...reply.json<Answer>() }
}

/** A graph that sends visitors to a or b by one condition. */
const forked = (condition: Body) => ({
  nodes: [
    { id: 'in', type: 'entry' },
    { id: 'ask', type: 'condition', ...condition },
    { id: 'a', type: 'redirect', url: 'https://a.example/' },
    { id: 'b', type: 'redirect', url: 'https://b.example/' },
  ],
  edges: [
    { from: 'in', to: 'ask' },
    { from: 'ask', to: 'a', branch: 'yes' },
    { from: 'ask', to: 'b', branch: 'no' },
  ],
})

/** A click of a campaign whose offer pays 7. */
const newClick = async () => {
  const offer = await byTool('create_offer', { name: 'O', url: 'https://o.example/?c={click_id}', payout: '7' })
  const campaign = await byTool('create_campaign', { name: 'C', destination_offer_id: offer.id })
  const { pathname } = new URL(String(campaign['url']), 'http://x')
  const { headers } = await house.call('GET', pathname, { headers: BROWSER })
  return /c=([0-9a-z]{26})/.exec(String(headers['location']))?.[1] ?? assert.fail('no click')
}

describe('a click flow', () => {
  test('with values at a condition that takes none is not published', async () => {
    for (const [condition, words] of [
      [{ field: 'bot', values: ['false'] }, /ask: takes no values: yes means a crawler/],
      [{ field: 'uniqueness', values: ['returning'] }, /ask: takes no values: yes means a new visitor/],
    ] as const) {
      const draft = { name: 'F', graph: forked(condition) }
      const told = await byTool('create_click_flow', draft)
      const sent = await byHttp('POST', '/api/click-flows', draft)
      assert.deepEqual(told['problems'], sent['problems'])
      assert.match(JSON.stringify(told['problems']), words)
      const refused = await byTool('publish_click_flow', { click_flow_id: told.id })
      assert.deepEqual([refused['status'], refused['code']], [422, 'click_flow_incomplete'])
      assert.equal((await byHttp('POST', `/api/click-flows/${sent.id}/publish`)).status, 422)
      for (const { id } of [told, sent]) {
        const flow = await house.call('GET', `/api/click-flows/${id}`, owner)
        assert.deepEqual([flow.data()['status'], flow.data()['published_version']], ['draft', null])
      }
    }
  })
})

describe('a creation that is repeated with the same idempotency key', () => {
  const count = async (path: string) => ((await house.call('GET', path, owner)).data()['data'] as unknown[]).length
  let made = 0
  const named = () => `Repeated ${(made += 1)}`
  const graph = forked({ field: 'bot' })
  const creations = async (): Promise<[tool: string, path: string, args: Body, body: Body][]> => {
    const url = 'https://o.example/'
    const { id: offer_id } = await byTool('create_offer', { name: 'O', url })
    const { id: campaign_id } = await byTool('create_campaign', { name: 'C', redirect_url: url })
    const offers = [{ offer_id, weight: 1 }]
    const campaign = { name: named(), destination: { type: 'redirect', url } }
    const row = (fields: Body): [Body, Body] => [fields, fields]
    return [
      ['create_offer', '/api/offers', ...row({ name: named(), url, payout: '7' })],
      ['create_landing', '/api/landings', ...row({ name: named(), url })],
      ['create_funnel', '/api/funnels', ...row({ name: named(), offers })],
      ['create_click_flow', '/api/click-flows', ...row({ name: named(), graph })],
      ['create_campaign', '/api/campaigns', { name: campaign.name, redirect_url: url }, campaign],
      ['create_postback', '/api/postbacks', ...row({ event_type: 'lead', url, campaign_id })],
    ]
  }
  const post = async (path: string, body: Body, idempotency_key: string, as: Body = { key }) => {
    const reply = await house.call('POST', path, { ...as, body, headers: { 'idempotency-key': idempotency_key } })
    const answer = reply.json<Answer>()
    return { ...answer, code: answer['code'], status: reply.statusCode, replayed: reply.headers['idempotent-replayed'] }
  }

  test('happens once, also in a race, by tool and over HTTP', async () => {
    for (const [tool, path, args, body] of await creations()) {
      const where =
        path === '/api/postbacks'
          ? `${path}?campaign_id=${String(args['campaign_id'])}`
          : `${path}?q=${String(args['name']).replace(' ', '+')}`
      const race = await Promise.all(
        Array.from({ length: 5 }, () => byTool(tool, { ...args, idempotency_key: `${tool}-1` })),
      )
      const [id] = new Set(race.map(({ id }) => id))
      assert.deepEqual(
        race.map(one => one.id),
        Array.from({ length: 5 }, () => id),
        tool,
      )
      assert.equal(race.filter(({ replayed }) => replayed === true).length, 4, tool)
      assert.equal(await count(where), 1, tool)
      // The tool and the route share the key's values: the same request is a repeat at either.
      const again = await post(path, body, `${tool}-1`)
      assert.deepEqual([again.status, again.id, again.replayed], [201, id, 'true'], tool)
      const other = await post(path, body, `${tool}-2`)
      assert.deepEqual([other.status, other.replayed, other.id === id], [201, undefined, false], tool)
      assert.equal(await count(where), 2, tool)
    }
  })

  test('is refused for another request, and after a change of the object', async () => {
    const offer = { name: named(), url: 'https://o.example/' }
    const { id } = await byTool('create_offer', { ...offer, idempotency_key: 'order' })
    const otherBody = await byTool('create_offer', { ...offer, payout: '1', idempotency_key: 'order' })
    const otherKind = await post('/api/landings', offer, 'order')
    assert.deepEqual([otherBody['code'], otherKind.code], ['idempotency_key_used', 'idempotency_key_used'])
    await house.call('PUT', `/api/offers/${id}`, { ...owner, body: { ...offer, payout: '99' } })
    const changed = await byTool('create_offer', { ...offer, idempotency_key: 'order' })
    assert.deepEqual([changed['status'], changed['code']], [409, 'idempotency_key_used'])
    assert.ok(String(changed['error']).includes(id) && !JSON.stringify(changed).includes('99'))
    assert.equal(await count(`/api/offers?q=${offer.name.replace(' ', '+')}`), 1)
    const spaced = await byTool('create_offer', { ...offer, idempotency_key: 'a b' })
    assert.match(String(spaced['error']), /idempotency_key: must be 1 to 128/)
  })

  test('is separate for each key and organization, and sessions have none', async () => {
    const offer = { name: named(), url: 'https://o.example/' }
    const other = await seedSignedIn(house)
    const keys = await Promise.all([owner, other].map(org => seedKey(house.database, org, { rights: ALL_RIGHTS })))
    const answers = await Promise.all([
      post('/api/offers', offer, 'shared'),
      ...keys.map(({ secret }) => post('/api/offers', offer, 'shared', { key: secret })),
      post('/api/offers', offer, 'shared', owner),
      post('/api/offers', offer, 'shared', owner),
    ])
    assert.equal(new Set(answers.map(({ id }) => id)).size, 5)
    assert.deepEqual(
      answers.map(({ status, replayed }) => [status, replayed]),
      answers.map(() => [201, undefined]),
    )
  })
})

test('an amount with more than six decimals is rounded, with a warning', async () => {
  const rounded = ({ warnings }: Answer) => warnings.filter(({ code }) => code === 'amount_rounded')
  const { id: campaign_id } = await byTool('create_campaign', {
    name: 'C',
    redirect_url: 'https://r.example/?c={click_id}',
  })
  const fine = '0.123456789123'
  const offer = { name: 'O', url: 'https://o.example/', payout: fine }
  const cost = { model: 'cpc', amount: fine }
  const clickId = await newClick()
  const conversion = { clickId, type: 'lead', payout: fine }
  const spend = { campaign_id, day: '2026-03-01', amount: fine }
  for (const [field, answer] of [
    ['payout', await byTool('create_offer', offer)],
    ['payout', await byHttp('POST', '/api/offers', offer)],
    ['payout', await byTool('report_conversion', { ...conversion, nonce: 'a' })],
    ['payout', await byHttp('POST', '/api/events', { ...conversion, nonce: 'b' })],
    ['amount', await byTool('record_ad_spend', spend)],
    ['amount', await byHttp('PUT', '/api/ad-spend', spend)],
    ['cost.amount', await byTool('update_campaign', { campaign_id, cost })],
    ['cost.amount', await byHttp('PATCH', `/api/campaigns/${campaign_id}`, { cost })],
  ] as const)
    assert.deepEqual(rounded(answer), [
      {
        code: 'amount_rounded',
        field,
        message: '0.123456789123 was rounded to 0.123457, because amounts have 6 decimals.',
      },
    ])
  for (const payout of ['0.1234560', 0.1 + 0.2, '7'])
    assert.deepEqual(rounded(await byHttp('POST', '/api/offers', { ...offer, payout })), [])
})

test('spend on a day or sub1 without clicks is recorded with a warning', async () => {
  const campaign = await byTool('create_campaign', { name: 'C', redirect_url: 'https://r.example/' })
  const { pathname } = new URL(String(campaign['url']), 'http://x')
  await house.call('GET', `${pathname}?sub1=zone-7`, { headers: BROWSER })
  const [day, campaign_id] = [new Date().toISOString().slice(0, 10), campaign.id]
  for (const [spend, expected] of [
    [{ day: '2016-11-20' }, ['no_clicks day']],
    [{ day, sub1: 'zone-8' }, ['no_clicks sub1']],
    [{ day, sub1: 'zone-7' }, []],
    [{ day }, []],
  ] as const) {
    const body = { campaign_id, ...spend, amount: '5' }
    for (const recorded of [await byTool('record_ad_spend', body), await byHttp('PUT', '/api/ad-spend', body)]) {
      assert.deepEqual(
        recorded.warnings.map(({ code, field }) => `${code} ${field}`),
        expected,
      )
      assert.equal(recorded['amount'], '5')
    }
    assert.deepEqual((await byTool('record_ad_spend', { ...body, amount: '' })).warnings, [])
  }
})

test('macros in the form of other programs are named for every address, and real values are not', async () => {
  const bad = 'https://r.example/[zone]?a=[clickid]&b=${CLICK_ID}&c=%CLICKID%&d=__CID__&e=<cid>'
  const fine = 'https://r.example/__init__.py?ids[]=1&a={click_id}&b=50%25&c=$5&d=a_[b]&e=%DE%AD&x={sub1}_{geo}'
  const warned = async (url: string) => {
    const node = { ...forked({ field: 'bot' }) }
    node.nodes[2] = { id: 'a', type: 'redirect', url }
    const rule = {
      event_type: 'lead',
      url,
      campaign_id: (await byTool('create_campaign', { name: 'C', redirect_url: fine })).id,
    }
    const destination = { type: 'redirect', url }
    return [
      await byTool('create_campaign', { name: 'C', redirect_url: url }),
      await byHttp('POST', '/api/campaigns', { name: 'C', destination }),
      await byTool('create_offer', { name: 'O', url }),
      await byHttp('POST', '/api/landings', { name: 'L', url }),
      await byTool('create_click_flow', { name: 'F', graph: node }),
      await byTool('create_postback', rule),
      await byHttp('POST', '/api/postbacks', rule),
    ].map(({ warnings }) => warnings.filter(({ code }) => code === 'literal_macros'))
  }
  for (const found of await warned(bad)) {
    assert.equal(found.length, 1)
    assert.ok(
      found[0]?.message.includes('[zone], [clickid], ${CLICK_ID}, %CLICKID%, __CID__ are sent as written'),
      found[0]?.message,
    )
  }
  assert.deepEqual((await warned(fine)).flat(), [])
})

test('a read by something that is no id of a campaign finds nothing, with a warning', async () => {
  const { id } = await byTool('create_campaign', { name: 'C', redirect_url: 'https://r.example/' })
  const window = { dimension: 'day', date_from: '2026-03-01', date_to: '2026-03-02T00:00:00Z' }
  const pathOf = (campaign_id: string, path: string) =>
    `${path}?${new URLSearchParams({ ...(path.endsWith('report') ? window : {}), campaign_id }).toString()}`
  for (const [campaign_id, wire] of [
    [['x'], '["x"]'],
    ['null', 'null'],
    ['Summer', 'Summer'],
  ] as const) {
    const clicks = await byTool('list_clicks', { campaign_id })
    const report = await byTool('get_report', { ...window, campaign_id })
    assert.deepEqual([clicks['data'], report['rows']], [[], []])
    for (const read of [
      clicks,
      report,
      await byHttp('GET', pathOf(wire, '/api/v1/clicks')),
      await byHttp('GET', pathOf(wire, '/api/v1/report')),
    ]) {
      assert.deepEqual([read.warnings[0]?.code, read.warnings[0]?.field], ['not_an_id', 'campaign_id'])
      assert.ok(read.warnings[0]?.message.startsWith(JSON.stringify(wire)))
    }
  }
  assert.ok(!('warnings' in (await byTool('list_clicks', { campaign_id: id }))))
  assert.ok(!('warnings' in (await byHttp('GET', pathOf(id, '/api/v1/report')))))
})

test('a postback rule without a campaign is created with a warning that it is for all of them', async () => {
  const rule = { event_type: 'lead', url: 'https://t.example/?c={click_id}' }
  const { id: campaign_id } = await byTool('create_campaign', { name: 'C', redirect_url: 'https://r.example/' })
  for (const empty of ['', null, undefined]) {
    const told = await byTool('create_postback', { ...rule, campaign_id: empty })
    const sent = await byHttp('POST', '/api/postbacks', { ...rule, campaign_id: empty || null })
    for (const made of [told, sent]) {
      assert.equal(made['campaign_id'], null)
      assert.deepEqual([made.warnings[0]?.code, made.warnings[0]?.field], ['all_campaigns', 'campaign_id'])
    }
  }
  assert.deepEqual((await byTool('create_postback', { ...rule, campaign_id })).warnings, [])
  assert.deepEqual((await byHttp('POST', '/api/postbacks', { ...rule, campaign_id })).warnings, [])
  const byOwner = await house.call('POST', '/api/postbacks', { ...owner, body: rule })
  assert.deepEqual(byOwner.data()['warnings'], [])
})

test('a deletion says which campaigns are left without a fallback', async () => {
  const way = forked({ field: 'bot' })
  const answers = []
  for (const remove of [
    (id: string) => byTool('delete_click_flow', { click_flow_id: id }),
    (id: string) => byHttp('DELETE', `/api/click-flows/${id}`),
  ]) {
    const { id } = await byTool('create_click_flow', { name: 'F', graph: way })
    await byTool('publish_click_flow', { click_flow_id: id })
    const bare = await byTool('create_campaign', { name: 'Bare', click_flow_id: id })
    const held = await byTool('create_campaign', {
      name: 'Held',
      click_flow_id: id,
      fallback_url: 'https://back.example/',
    })
    const { campaigns_on_fallback } = await remove(id)
    assert.deepEqual(campaigns_on_fallback, [
      { id: bare.id, name: 'Bare', has_fallback: false },
      { id: held.id, name: 'Held', has_fallback: true },
    ])
    const visit = async (campaign: Answer) =>
      (await house.call('GET', new URL(String(campaign['url']), 'http://x').pathname, { headers: BROWSER })).statusCode
    answers.push(await visit(bare), await visit(held))
  }
  assert.deepEqual(answers, [404, 302, 404, 302])
})

describe('a condition that matches nobody', () => {
  test('is published with a warning that names the likely value', async () => {
    const graphs: [Body, string[]][] = [
      [{ field: 'os', values: ['iPhone', 'iOS', 'macOS'] }, ['Did you mean iOS?', 'Did you mean Mac OS?']],
      [{ field: 'browser', values: ['Google Chrome', 'firefox'] }, ['Did you mean Chrome?']],
      [{ field: 'browser', match: 'contains', values: ['Kroma', 'chrom'] }, ['Write the name as clicks show it.']],
      [
        { field: 'language', values: ['english', 'pt-BR', 'de_AT', 'ua'] },
        ['Did you mean en?', 'such as en or pt-BR.'],
      ],
      [
        { field: 'sub1', values: ['*', 'zone%', '50%off'] },
        ['to contains or starts_with.', 'to contains or starts_with.'],
      ],
      [{ field: 'os', match: 'starts_with', values: ['Win'] }, []],
      [{ field: 'sub2', match: 'is_set' }, []],
    ]
    for (const [condition, endings] of graphs) {
      const draft = { name: 'F', graph: forked(condition) }
      const told = await byTool('create_click_flow', draft)
      const sent = await byHttp('POST', '/api/click-flows', draft)
      const published = await byTool('publish_click_flow', { click_flow_id: told.id })
      assert.equal(published['status'], 'active')
      for (const { warnings } of [told, sent, published]) {
        const found = warnings.filter(({ code }) => code === 'matches_nobody')
        assert.equal(found.length, endings.length, JSON.stringify(found))
        for (const [at, { field, message }] of found.entries()) {
          assert.equal(field, 'graph.nodes.1.values')
          assert.ok(message.startsWith('Node ask: ') && message.endsWith(endings[at] ?? ''), message)
        }
      }
    }
  })
})

describe('a conversion', () => {
  const short = (warnings: readonly Warning[] = []) => warnings.map(({ code, field }) => `${code} ${field}`)

  test('with a misspelt name in its payload is recorded with a warning of what is not read', async () => {
    const clickId = await newClick()
    for (const [payload, field, words] of [
      [{ telegramUserId: '9002' }, 'payload.telegramUserId', /telegram_user_id is missing.*may be charged twice/],
      [{ telegram_userid: '9002', telegram_user_id: '' }, 'payload.telegram_userid', /telegram_user_id is missing/],
      [{ payout: '99' }, 'payload.payout', /a field beside payload/],
    ] as const) {
      const told = await byTool('report_conversion', { clickId, type: 'lead', nonce: `${field}-tool`, payload })
      const conversion = { clickId, type: 'lead', nonce: `${field}-http`, payload }
      const sent = await byHttp('POST', '/api/events', conversion)
      for (const event of [told, sent]) {
        assert.deepEqual(short(event.warnings), [`payload_not_read ${field}`])
        assert.match(event.warnings[0]?.message ?? '', words)
        assert.deepEqual([event['payout'], event['payload']], ['7', payload])
      }
      // A repeat is answered like the first call.
      assert.deepEqual(await byHttp('POST', '/api/events', conversion), sent)
    }
  })

  test('with the right names, or with names of the sender alone, has no warnings in its answer', async () => {
    const clickId = await newClick()
    for (const [at, more] of [
      { payload: { telegram_user_id: 7, tg_id: 'x', botId: 'x', user_id: 1, amount: 3 } },
      { payload: { telegramUserId: null, payout: 3, Nonce: 'a' }, payout: 3 },
      { payload: null },
      {},
    ].entries()) {
      const conversion = { clickId, type: 'deposit', nonce: `right-${at}`, ...more }
      const sent = await byHttp('POST', '/api/events', conversion)
      assert.equal(sent.status, 201)
      assert.ok(!('warnings' in sent), JSON.stringify(sent.warnings))
      assert.deepEqual((await byTool('report_conversion', conversion))['warnings'], [])
    }
  })

  test('of a start by a bot with a misspelt bot has a warning', async () => {
    const start = {
      clickId: await newClick(),
      type: 'bot_start',
      payload: { telegram_user_id: 5, botUsername: 'acme' },
    }
    assert.deepEqual(short((await byHttp('POST', '/api/events', start)).warnings), [
      'payload_not_read payload.botUsername',
    ])
  })
})

describe('the replacement of an offer', () => {
  const OFFER = { name: 'O', url: 'https://o.example/' }
  const full = { ...OFFER, payout: '7', payout_currency: 'EUR', payout_types: ['ftd'] }
  const codes = ({ warnings }: Answer) => warnings.map(({ code, field }) => `${code} ${field}`)

  test('that clears its payout or its event types names them, with a warning', async () => {
    const cleared = { payout: null, payout_currency: null, payout_types: [] }
    const replaceByTool = async (fields: Body) => {
      const { id } = await byTool('create_offer', full)
      return await byTool('update_offer', { offer_id: id, ...fields })
    }
    const replaceByHttp = async (fields: Body) => {
      const { id } = await byHttp('POST', '/api/offers', full)
      return await byHttp('PUT', `/api/offers/${id}`, fields)
    }
    for (const replaced of [replaceByTool, replaceByHttp]) {
      const bare = await replaced(OFFER)
      const { payout, payout_currency, payout_types } = bare
      assert.deepEqual({ payout, payout_currency, payout_types }, cleared)
      assert.deepEqual(codes(bare), ['field_cleared payout', 'field_cleared payout_types'])
      assert.ok(!JSON.stringify(bare).includes('EUR'), 'an earlier value is shown')
      const inDollars = await replaced({ ...OFFER, payout: '7', payout_types: ['ftd'] })
      assert.deepEqual(codes(inDollars), ['payout_currency_cleared payout_currency'])
      // The rate of the day is unknown here, which has its own warning.
      assert.deepEqual(codes(await replaced(full)), ['rate_unknown payout_currency'])
    }
  })

  test('by tool restores a currency that was lost', async () => {
    const { id } = await byTool('create_offer', full)
    await byTool('update_offer', { offer_id: id, ...OFFER, payout: '7' })
    const mended = await byTool('update_offer', { offer_id: id, ...full })
    assert.deepEqual([mended['payout'], mended['payout_currency']], ['7', 'EUR'])
    assert.equal((await house.call('GET', `/api/offers/${id}`, owner)).data()['payout_currency'], 'EUR')
  })
})
