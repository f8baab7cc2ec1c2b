import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { dayOf } from '../../contract/days.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { openTestHouse, seedKey, startHouse, type TestHouse } from '../../../tests/support/house.ts'
import { seedSignedIn, type SignedIn } from '../../../tests/support/people.ts'
import { type RatesFake, startRates } from '../../../tests/support/rates-fake.ts'
import { addDays } from './source.ts'

const TODAY = dayOf(Date.now())
const before_ = (days: number) => addDays(TODAY, -days)

type Listed = {
  day: string
  rates: { currency: string; usd_per_unit: string; rate_day: string; rate_source: string }[]
  own: {
    currency: string
    from_day: string
    usd_per_unit: string | null
    note: string | null
    actor: { name: string }
  }[]
  sources: {
    source: string
    asked: boolean
    fetched_at: string | null
    newest_day: string | null
    error: string | null
  }[]
}

let banks: RatesFake
let house: TestHouse
let owner: SignedIn

const env = () => ({ FX_SOURCES: 'ecb,cbr', ECB_BASE: banks.origin, CBR_BASE: banks.origin })

before(async () => {
  banks = await startRates(
    {
      [before_(3)]: { USD: '1.1000', JPY: '160.00', CNY: '8.0' },
      [before_(2)]: { USD: '1.2000', JPY: '150.00', CNY: '8.0' },
    },
    {
      [before_(60)]: { USD: [1, '70.0000'], UAH: [10, '19.2000'], KZT: [100, '16.0000'], EUR: [1, '99.0000'] },
      [before_(4)]: { USD: [1, '80.0000'], UAH: [10, '19.2000'], KZT: [100, '16.0000'], EUR: [1, '99.0000'] },
      [before_(1)]: { USD: [1, '81.0000'], UAH: [10, '19.4400'], KZT: [100, '16.2000'], EUR: [1, '99.0000'] },
    },
  )
  house = await startHouse(env(), { quotas: { writes: 100_000 } })
  owner = await seedSignedIn(house)
})
after(async () => {
  await house.end()
  await banks.close()
})

async function listed(cookie = owner.cookie, day?: string): Promise<Listed> {
  const response = await house.call('GET', `/api/rates${day === undefined ? '' : `?day=${day}`}`, { cookie })
  assert.equal(response.statusCode, 200, response.body)
  return response.json() as Listed
}

const put = (currency: string, body: object, cookie = owner.cookie) =>
  house.call('PUT', `/api/rates/${currency}`, { cookie, body })

const ofOwn = async (currency: string, day?: string, cookie?: string) =>
  (await listed(cookie, day)).rates.find(rate => rate.currency === currency)

describe('rates', () => {
  test('nobody is asked before something in another currency is there', async () => {
    const { rates, sources } = await listed()
    assert.deepEqual(rates, [])
    assert.deepEqual(
      sources.map(({ source, asked }) => [source, asked]),
      [
        ['ecb', false],
        ['cbr', false],
      ],
    )
    assert.deepEqual(banks.calls, [])
  })

  test('an own rate is added, wins from its day, is never overwritten, and gives the currency back', async () => {
    const other = await seedSignedIn(house)
    const saved = await put('xyz', { from_day: before_(5), usd_per_unit: '2.5', note: 'as agreed' })
    assert.equal(saved.statusCode, 200, saved.body)
    assert.equal(saved.data()['currency'], 'XYZ')
    assert.equal(await ofOwn('XYZ', before_(6)), undefined)
    assert.deepEqual(await ofOwn('XYZ', before_(5)), {
      currency: 'XYZ',
      usd_per_unit: '2.5',
      rate_day: before_(5),
      rate_source: 'own',
    })
    await put('XYZ', { from_day: before_(2), usd_per_unit: '3' })
    await put('XYZ', { from_day: before_(5), usd_per_unit: '2.6' })
    assert.equal((await ofOwn('XYZ', before_(3)))?.usd_per_unit, '2.6')
    assert.equal((await ofOwn('XYZ'))?.usd_per_unit, '3')
    await put('XYZ', { from_day: TODAY, usd_per_unit: null })
    assert.equal(await ofOwn('XYZ'), undefined)
    const { own } = await listed()
    assert.deepEqual(
      own.map(({ from_day, usd_per_unit, note, actor }) => [from_day, usd_per_unit, note, actor.name]),
      [
        [TODAY, null, null, 'Person'],
        [before_(5), '2.6', null, 'Person'],
        [before_(2), '3', null, 'Person'],
        [before_(5), '2.5', 'as agreed', 'Person'],
      ],
    )
    const theirs = await listed(other.cookie)
    assert.deepEqual(theirs.own, [])
    assert.equal(await ofOwn('XYZ', before_(3), other.cookie), undefined)
  })

  test('what is no own rate is refused, and so is who may not set one', async () => {
    const bad: [string, object][] = [
      ['EUR', { from_day: TODAY, usd_per_unit: '0' }],
      ['EUR', { from_day: TODAY, usd_per_unit: '-1' }],
      ['EUR', { from_day: TODAY, usd_per_unit: '1e3' }],
      ['EUR', { from_day: TODAY, usd_per_unit: 1.1 }],
      ['EUR', { from_day: '2026-02-30', usd_per_unit: '1' }],
      ['EUR', { from_day: '1999-12-31', usd_per_unit: '1' }],
      ['EUR', { usd_per_unit: '1' }],
      ['EUR', { from_day: TODAY }],
      ['USD', { from_day: TODAY, usd_per_unit: '1' }],
      ['E', { from_day: TODAY, usd_per_unit: '1' }],
      ['EU%24', { from_day: TODAY, usd_per_unit: '1' }],
    ]
    for (const [currency, body] of bad)
      assert.equal((await put(currency, body)).statusCode, 400, `${currency} ${JSON.stringify(body)}`)
    const member = await seedSignedIn(house, { place: owner, role: 'member' })
    assert.equal((await put('EUR', { from_day: TODAY, usd_per_unit: '1' }, member.cookie)).statusCode, 403)
    const { secret } = await seedKey(house.database, owner)
    for (const method of ['GET', 'PUT'] as const) {
      const url = method === 'GET' ? '/api/rates' : '/api/rates/EUR'
      const refused = await house.call(method, url, { key: secret, ...(method === 'PUT' ? { body: {} } : {}) })
      assert.equal(refused.statusCode, 403)
      assert.equal(refused.data()['code'], 'api_key_resource_forbidden')
    }
    assert.equal((await listed()).own.filter(({ currency }) => currency !== 'XYZ').length, 0)
  })

  test('both banks are then asked, and each day has the latest rate of a day strictly before it, for seven days', async () => {
    await eventually('both sources are read', async () =>
      (await listed()).sources.every(({ fetched_at }) => fetched_at !== null),
    )
    assert.deepEqual(banks.strange, [])
    const rate = async (currency: string, day?: string) => {
      const found = await ofOwn(currency, day)
      return found && [found.usd_per_unit, found.rate_day, found.rate_source]
    }
    assert.deepEqual(await rate('EUR'), ['1.2', before_(2), 'ecb'])
    assert.deepEqual(await rate('EUR', before_(2)), ['1.1', before_(3), 'ecb'])
    // A day the first bank lacks may come from the second.
    assert.deepEqual(await rate('EUR', before_(3)), ['1.2375', before_(4), 'cbr'])
    assert.deepEqual(await rate('JPY'), ['0.008', before_(2), 'ecb'])
    assert.deepEqual(await rate('CNY', before_(2)), ['0.1375', before_(3), 'ecb'])
    assert.deepEqual(await rate('UAH'), ['0.024', before_(1), 'cbr'])
    assert.deepEqual(await rate('UAH', before_(1)), ['0.024', before_(4), 'cbr'])
    assert.deepEqual(await rate('KZT'), ['0.002', before_(1), 'cbr'])
    assert.deepEqual(await rate('RUB'), ['0.0123456790123', before_(1), 'cbr'])
    assert.deepEqual(await rate('EUR', addDays(before_(2), 7)), ['1.2', before_(2), 'ecb'])
    // The other bank's rates are for one day later.
    assert.deepEqual(await rate('EUR', addDays(before_(2), 8)), ['1.22222222222', before_(1), 'cbr'])
    assert.equal(await rate('EUR', addDays(before_(2), 9)), undefined)
    assert.equal(await rate('USD'), undefined)
  })

  test('a day once written never changes, whatever a later file says', async () => {
    const { ecb } = banks
    ecb[before_(2)] = { USD: '9.0000', JPY: '150.00' }
    ecb[before_(1)] = { USD: '1.3000', JPY: '150.00' }
    await askAgain('ecb')
    assert.equal((await ofOwn('EUR', before_(1)))?.usd_per_unit, '1.2')
    assert.equal((await ofOwn('EUR'))?.usd_per_unit, '1.3')
  })

  test('a source that fails says so, is asked again later, and what is stored goes on being used', async () => {
    const wrong = [
      { status: 503, body: 'down', words: 'it answered HTTP 503' },
      { status: 200, body: '<html>Sorry</html>', words: 'its answer is not a file of reference rates' },
      {
        status: 200,
        body: `<Cube time="${TODAY}"><Cube currency="JPY" rate="1"/></Cube>`,
        words: `the rates of ${TODAY} lack the dollar`,
      },
      {
        status: 200,
        body: `<Cube time="${TODAY}"><Cube currency="USD" rate="1,1"/></Cube>`,
        words: `the rates of ${TODAY} have USD at 1,1`,
      },
      {
        status: 200,
        body: '<Cube time="2999-01-01"><Cube currency="USD" rate="1.1"/></Cube>',
        words: 'its answer has rates for 2999-01-01',
      },
    ]
    for (const { words, ...answer } of wrong) {
      banks.answer(answer)
      await due('ecb')
      await eventually(words, async () => (await listed()).sources[0]?.error === words)
    }
    const { rows } = await house.database.worker.query<{ is_later: boolean }>(
      "select due_at > now() + interval '5 minutes' as is_later from fx_sources where source = 'ecb'",
    )
    assert.equal(rows[0]?.is_later, true)
    assert.equal((await ofOwn('EUR'))?.usd_per_unit, '1.3')
    banks.answer(undefined)
    await askAgain('ecb')
    assert.equal((await listed()).sources[0]?.error, null)
  })

  test('of several processes one asks', async () => {
    const second = await openTestHouse(house.database, env())
    try {
      const calls = banks.calls.length
      await askAgain('ecb')
      assert.equal(banks.calls.length, calls + 1)
    } finally {
      await second.end()
    }
  })
})

const due = (source: string) =>
  house.database.worker.query('update fx_sources set due_at = null, fetched_at = null where source = $1', [source])

async function askAgain(source: string): Promise<void> {
  await due(source)
  await eventually(`${source} is read again`, async () =>
    (await listed()).sources.some(one => one.source === source && one.fetched_at !== null && one.error === null),
  )
}
