import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { seedKey, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { metaError } from '../../../tests/support/meta-fake.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import type { Reply } from '../../../tests/support/platform-fake.ts'
import {
  adHour,
  bookedSpend,
  connectSpendAccount,
  META,
  type Platforms,
  readSpendAccount,
  type SpendPlace,
  seedClicksWithSubs,
  seedSpendPlace,
  startPlatforms,
  startServing,
  syncSpendAccount,
  TIKTOK,
  TOKEN,
} from '../../../tests/support/spend-accounts.ts'
import { tiktokReply } from '../../../tests/support/tiktok-fake.ts'
import { HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import { newId } from '../../contract/ids.ts'
import { RIGHTS, type Right } from '../../contract/rights.ts'
import type { SpendAccount } from './api.ts'
import { syncDueAccounts } from './worker.ts'

let platforms: Platforms
let house: TestHouse
before(async () => {
  platforms = await startPlatforms()
  house = await startServing(platforms)
})
after(async () => {
  await house.end()
  await platforms.close()
})

const DRAFT = { provider: 'meta', name: 'Main', external_id: META, access_token: TOKEN, id_in: 'sub2' }
const list = async ({ cookie }: { cookie: string }) =>
  (await house.call('GET', '/api/spend-accounts', { cookie })).json<{ data: SpendAccount[] }>().data

async function stored() {
  const { rows } = await house.database.reads.query('select * from spend_accounts order by org_id, id')
  return rows
}

async function nothingChanges(deed: () => Promise<unknown>): Promise<void> {
  const before = await stored()
  await deed()
  assert.deepEqual(await stored(), before)
}

describe('an account', () => {
  test('is connected, shown without its token, changed, and disconnected', async () => {
    const place = await seedSpendPlace(house)
    const made = await house.call('POST', '/api/spend-accounts', {
      cookie: place.cookie,
      body: { ...DRAFT, external_id: `act_${META}`, name: ' Main ' },
    })
    assert.equal(made.statusCode, 201, made.body)
    const account = made.json<SpendAccount>()
    assert.deepEqual(
      [account.external_id, account.name, account.level, account.campaign_id, account.state, account.token_hint],
      [META, 'Main', 'ad', null, 'active', `…${TOKEN.slice(-4)}`],
    )
    assert.deepEqual([account.synced_at, account.fault, account.is_syncing], [null, null, false])
    const changed = await house.call('PATCH', `/api/spend-accounts/${account.id}`, {
      cookie: place.cookie,
      body: { name: 'Other', campaign_id: toWireId(place.campaign_id), id_in: null, state: 'off' },
    })
    assert.equal(changed.statusCode, 200, changed.body)
    assert.deepEqual(
      [changed.data()['name'], changed.data()['campaign_id'], changed.data()['state']],
      ['Other', toWireId(place.campaign_id), 'off'],
    )
    assert.deepEqual(await list(place), [changed.data()])
    assert.equal(await syncDueAccounts(house.ground), 0, 'one that is off is not read')
    const gone = await house.call('DELETE', `/api/spend-accounts/${account.id}`, { cookie: place.cookie })
    assert.deepEqual([gone.statusCode, gone.data()], [200, { ok: true }])
    assert.deepEqual(await list(place), [])
    const [row] = (await stored()).filter(({ org_id }) => org_id === place.org_id)
    assert.deepEqual([row.token.length, row.token_hint], [0, ''])
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/sync'],
    ] as const) {
      const body = method === 'GET' || method === 'DELETE' ? {} : { body: {} }
      const reply = await house.call(method, `/api/spend-accounts/${account.id}${path}`, {
        cookie: place.cookie,
        ...body,
      })
      assert.deepEqual([method, reply.statusCode], [method, 404])
    }
  })

  test('keeps its token encrypted', async () => {
    const place = await seedSpendPlace(house)
    await connectSpendAccount(house, place)
    const [row] = (await stored()).filter(({ org_id }) => org_id === place.org_id)
    assert.ok(!row.token.toString('latin1').includes(TOKEN))
    assert.equal(house.ground.secrets.open(row.token), TOKEN)
    await syncDueAccounts(house.ground)
  })

  test('is refused where it names nothing, twice the same, or what is not the organization’s', async () => {
    const [place, other] = [await seedSpendPlace(house), await seedSpendPlace(house)]
    await connectSpendAccount(house, place)
    const wrong: [object, number, string | undefined][] = [
      [{ ...DRAFT }, 409, 'already_exists'],
      [{ ...DRAFT, external_id: '77777', id_in: null }, 400, undefined],
      [{ ...DRAFT, external_id: '77777', campaign_id: toWireId(other.campaign_id) }, 404, 'not_found'],
      [{ ...DRAFT, external_id: '77777', campaign_id: toWireId(newId()) }, 404, 'not_found'],
      [{ ...DRAFT, external_id: 'Main' }, 400, undefined],
      [{ ...DRAFT, external_id: '77777', provider: 'google' }, 400, undefined],
      [{ ...DRAFT, external_id: '77777', id_in: 'sub10' }, 400, undefined],
      [{ ...DRAFT, external_id: '77777', level: 'keyword' }, 400, undefined],
      [{ ...DRAFT, external_id: '77777', access_token: 'with spaces in it' }, 400, undefined],
      [{ ...DRAFT, external_id: '77777', access_token: undefined }, 400, undefined],
      [{ ...DRAFT, external_id: '77777', name: '' }, 400, undefined],
    ]
    await nothingChanges(async () => {
      for (const [body, status, code] of wrong) {
        const reply = await house.call('POST', '/api/spend-accounts', { cookie: place.cookie, body })
        assert.deepEqual([reply.statusCode, reply.data()['code']], [status, code], JSON.stringify(body))
      }
    })
    await syncDueAccounts(house.ground)
  })

  test('is not left without a campaign by a change', async () => {
    const place = await seedSpendPlace(house)
    const id = await connectSpendAccount(house, place)
    await nothingChanges(async () => {
      const reply = await house.call('PATCH', `/api/spend-accounts/${id}`, {
        cookie: place.cookie,
        body: { id_in: null },
      })
      assert.equal(reply.statusCode, 400, reply.body)
      assert.match(String(reply.data()['error']), /assigned to no campaign/)
    })
    await syncDueAccounts(house.ground)
  })

  test('is read on request only while it is switched on', async () => {
    const place = await seedSpendPlace(house)
    const id = await connectSpendAccount(house, place)
    const patch = (state: string) =>
      house.call('PATCH', `/api/spend-accounts/${id}`, { cookie: place.cookie, body: { state } })
    await patch('off')
    const url = `/api/spend-accounts/${id}/sync`
    await nothingChanges(async () => {
      for (const body of [{}, { days: 0 }, { days: 31 }]) {
        const reply = await house.call('POST', url, { cookie: place.cookie, body })
        assert.equal(reply.statusCode, 400, reply.body)
      }
    })
    await patch('active')
    assert.equal(await syncDueAccounts(house.ground), 1)
  })

  test('is of its organization alone, of admins, and of no key', async () => {
    const [place, other] = [await seedSpendPlace(house), await seedSpendPlace(house)]
    const id = await connectSpendAccount(house, place)
    const member = await seedSignedIn(house, { place, role: 'member' })
    const rights = Object.keys(RIGHTS) as Right[]
    const { secret: key } = await seedKey(house.database, place, { rights })
    assert.deepEqual(await list(other), [])
    assert.equal((await list(member)).length, 1)
    const calls = [
      ['GET', `/api/spend-accounts/${id}`, {}],
      ['POST', '/api/spend-accounts', { body: { ...DRAFT, external_id: '77777' } }],
      ['PATCH', `/api/spend-accounts/${id}`, { body: { name: 'Mine' } }],
      ['POST', `/api/spend-accounts/${id}/sync`, { body: {} }],
      ['DELETE', `/api/spend-accounts/${id}`, {}],
    ] as const
    await nothingChanges(async () => {
      for (const [method, url, sent] of calls) {
        const byKey = await house.call(method, url, { key, ...sent })
        assert.deepEqual([method, byKey.statusCode, byKey.data()['code']], [method, 403, 'api_key_resource_forbidden'])
        if (method !== 'GET') {
          const byMember = await house.call(method, url, { cookie: member.cookie, ...sent })
          assert.deepEqual([method, byMember.statusCode, byMember.data()['code']], [method, 403, 'role_forbidden'])
        }
        if (url === '/api/spend-accounts') continue
        const byOther = await house.call(method, url, { cookie: other.cookie, ...sent })
        assert.deepEqual([method, byOther.statusCode, byOther.data()['code']], [method, 404, 'not_found'])
      }
    })
    await syncDueAccounts(house.ground)
  })

  test('that is disconnected keeps what was spent, is the same when it comes back, and takes all back only when told to', async () => {
    const place = await seedSpendPlace(house)
    const day = new Date().toISOString().slice(0, 10)
    await seedClicksWithSubs(house.database, place, { sub2: '100200' }, { at: Date.now() })
    platforms.books.hours = [adHour(day, 0, '100200', '5.00'), adHour(day, 0, '100300', '1.00')]
    const id = await connectSpendAccount(house, place)
    await syncDueAccounts(house.ground)
    const rows = await bookedSpend(house.database, place.org_id)
    assert.equal(rows.length, 1)
    const remove = (query: string) =>
      house.call('DELETE', `/api/spend-accounts/${id}${query}`, { cookie: place.cookie })
    assert.equal((await remove('')).statusCode, 200)
    assert.deepEqual(await bookedSpend(house.database, place.org_id), rows)
    assert.equal(await connectSpendAccount(house, place), id)
    await syncDueAccounts(house.ground)
    assert.deepEqual(await bookedSpend(house.database, place.org_id), rows, 'counted once')
    assert.equal((await remove('?take_back=perhaps')).statusCode, 400)
    assert.equal((await remove('?take_back=true')).statusCode, 200)
    assert.deepEqual(await bookedSpend(house.database, place.org_id), [])
    const { rows: told } = await house.database.reads.query('select 1 from account_spend where org_id = $1', [
      place.org_id,
    ])
    assert.deepEqual(told, [])
    platforms.books.hours = []
  })
})

describe('a fault', () => {
  /** The account's fault after reading it with these answers, and whether the fault is temporary. */
  async function faultOf(place: SpendPlace, id: string, ask: () => void | (() => void)) {
    const undo = ask()
    await syncSpendAccount(house, place, id, Date.now())
    for (const fake of [platforms.meta, platforms.tiktok]) fake.answer(undefined)
    undo?.()
    const account = await readSpendAccount(house, place, id)
    const waits = Date.parse(account.next_sync_at) - Date.now()
    assert.ok(account.fault?.hint.length, 'it says what to do')
    assert.ok(!JSON.stringify(account).includes(TOKEN))
    return { code: account.fault?.code, error: account.fault?.error ?? '', waits }
  }
  const meta = (reply: Reply) => () => platforms.meta.answer(() => reply)

  test('is told in words with its cure, and is over once it is cured', async () => {
    const place = await seedSpendPlace(house)
    const id = await connectSpendAccount(house, place)
    const known = platforms.books.tokens[TOKEN] as { accounts: string[]; may_read: boolean }
    const withBooks = (change: () => void, back: () => void) => () => {
      change()
      return back
    }
    const account = platforms.books.accounts[META] as { timezone: string; currency: string }
    const cases: [string, () => void | (() => void), string, RegExp, 'passes' | 'stays'][] = [
      [
        'a token that may not read',
        withBooks(
          () => (known.may_read = false),
          () => (known.may_read = true),
        ),
        'permission_missing',
        /ads_read/,
        'stays',
      ],
      [
        'an account it does not reach',
        withBooks(
          () => (known.accounts = []),
          () => (known.accounts = [META]),
        ),
        'account_not_found',
        /100\/33/,
        'stays',
      ],
      [
        'a dead token',
        withBooks(
          () => delete platforms.books.tokens[TOKEN],
          () => (platforms.books.tokens[TOKEN] = known),
        ),
        'token_refused',
        /190\/463/,
        'stays',
      ],
      [
        'an unknown zone',
        withBooks(
          () => (account.timezone = 'Mars/Base'),
          () => (account.timezone = 'UTC'),
        ),
        'timezone_unknown',
        /Mars\/Base/,
        'stays',
      ],
      [
        'a token that is said back',
        meta(metaError(190, undefined, { message: `Malformed access token ${TOKEN}` })),
        'token_refused',
        /Malformed access token …/,
        'stays',
      ],
      ['a proxy’s page', meta({ status: 502, body: '<html>Bad gateway</html>' }), 'unavailable', /502/, 'passes'],
      ['an empty answer', meta({ status: 200, body: {} }), 'unavailable', /200/, 'passes'],
      ['a passing trouble', meta(metaError(2, undefined, { is_transient: true })), 'unavailable', /Meta 2/, 'passes'],
      ['too much at once', meta(metaError(100, 1_487_534)), 'unexpected_answer', /1487534/, 'passes'],
    ]
    for (const [what, ask, code, words, kind] of cases) {
      const fault = await faultOf(place, id, ask)
      assert.deepEqual([what, fault.code], [what, code])
      assert.match(fault.error, words, what)
      assert.equal(fault.waits > 12 * HOUR_MS, kind === 'stays', `${what}: ${fault.waits}`)
    }
    await syncSpendAccount(house, place, id, Date.now())
    const cured = await readSpendAccount(house, place, id)
    assert.deepEqual([cured.fault, cured.synced_at === null], [null, false])
  })

  test('of asking too often waits as long as the platform says', async () => {
    const place = await seedSpendPlace(house)
    const id = await connectSpendAccount(house, place)
    const usage = { [META]: [{ type: 'ads_insights', call_count: 100, estimated_time_to_regain_access: 47 }] }
    const limited: Reply = {
      ...metaError(80_000, 2_446_079, { message: 'There have been too many calls from this ad-account.' }),
      headers: { 'x-business-use-case-usage': JSON.stringify(usage) },
    }
    const fault = await faultOf(place, id, meta(limited))
    assert.equal(fault.code, 'rate_limited')
    assert.ok(fault.waits > 46 * MINUTE_MS && fault.waits <= 47 * MINUTE_MS, String(fault.waits))
    const since = (await readSpendAccount(house, place, id)).fault?.since
    const again = await faultOf(place, id, meta(metaError(17)))
    assert.ok(again.waits > 9 * MINUTE_MS && again.waits <= 10 * MINUTE_MS, 'longer each time')
    assert.equal((await readSpendAccount(house, place, id)).fault?.since, since, 'it is the same fault')
  })

  test('of TikTok is told as well', async () => {
    const place = await seedSpendPlace(house)
    const id = await connectSpendAccount(house, place, { provider: 'tiktok', external_id: TIKTOK })
    const tiktok = (reply: Reply) => () => platforms.tiktok.answer(() => reply)
    const list = [{ dimensions: { ad_id: '1', stat_time_hour: '1999-01-01 00:00:00' }, metrics: { spend: '1' } }]
    const cases: [() => void, string][] = [
      [tiktok(tiktokReply(40_105, 'Access token is incorrect or has been revoked.')), 'token_refused'],
      [tiktok(tiktokReply(40_001, 'No permission to operate advertiser')), 'permission_missing'],
      [tiktok(tiktokReply(40_100, 'App reaches the QPS limit')), 'rate_limited'],
      [tiktok(tiktokReply(50_000, 'System error')), 'unavailable'],
      [tiktok(tiktokReply(40_002, 'Invalid')), 'unexpected_answer'],
      [tiktok(tiktokReply(0, 'OK', { list: [] })), 'account_not_found'],
      [tiktok({ status: 503, body: '<html>busy</html>' }), 'unavailable'],
      [
        () =>
          platforms.tiktok.answer(({ url }) =>
            url.includes('report') ? tiktokReply(0, 'OK', { list, page_info: { total_page: 1 } }) : undefined,
          ),
        'unexpected_answer',
      ],
    ]
    for (const [ask, code] of cases) assert.equal((await faultOf(place, id, ask)).code, code)
    assert.deepEqual(await bookedSpend(house.database, place.org_id), [])
  })

  test('keeps what was booked before, and another account goes on', async () => {
    const [place, other] = [await seedSpendPlace(house), await seedSpendPlace(house)]
    const day = new Date().toISOString().slice(0, 10)
    for (const one of [place, other])
      await seedClicksWithSubs(house.database, one, { sub2: '100200' }, { at: Date.now() })
    platforms.books.hours = [adHour(day, 0, '100200', '5.00')]
    const id = await connectSpendAccount(house, place)
    await syncDueAccounts(house.ground)
    const before = await bookedSpend(house.database, place.org_id)
    platforms.books.tokens['another-token'] = { accounts: [META], may_read: true }
    const known = platforms.books.tokens[TOKEN]
    delete platforms.books.tokens[TOKEN]
    await house.call('POST', `/api/spend-accounts/${id}/sync`, { cookie: place.cookie, body: {} })
    await connectSpendAccount(house, other, { access_token: 'another-token' })
    assert.equal(await syncDueAccounts(house.ground), 2)
    assert.equal((await readSpendAccount(house, place, id)).fault?.code, 'token_refused')
    assert.deepEqual(await bookedSpend(house.database, place.org_id), before)
    assert.equal((await bookedSpend(house.database, other.org_id)).length, 1)
    const changed = await house.call('PATCH', `/api/spend-accounts/${id}`, {
      cookie: place.cookie,
      body: { access_token: 'another-token' },
    })
    assert.equal(changed.data()['fault'], null)
    assert.equal(await syncDueAccounts(house.ground), 1, 'a new token has it asked at once')
    assert.equal((await readSpendAccount(house, place, id)).fault, null)
    if (known !== undefined) platforms.books.tokens[TOKEN] = known
    platforms.books.hours = []
  })
})

test('a running Sluice reads a new account by itself', async () => {
  const running = await startHouse(platforms.env)
  try {
    const place = await seedSpendPlace(running)
    const day = new Date().toISOString().slice(0, 10)
    const visit = await running.call('GET', `/c/${place.campaign_key}?sub2=100200`, {
      headers: {
        'user-agent':
          'Mozilla/5.0 (Linux; Android 13; SM-S908B) AppleWebKit/537.36 Chrome/112.0.0.0 Mobile Safari/537.36',
      },
    })
    assert.equal(visit.statusCode, 302)
    platforms.books.hours = [adHour(day, 0, '100200', '5.00')]
    const id = await connectSpendAccount(running, place)
    await eventually('it was not read', async () => (await readSpendAccount(running, place, id)).synced_at !== null)
    assert.deepEqual(await bookedSpend(running.database, place.org_id), [`${day} ${place.campaign_id} - 5`])
  } finally {
    platforms.books.hours = []
    await running.end()
  }
})
