import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { toWireId } from '../src/contract/ids.ts'
import { openFolder } from '../src/reading/reports/fold.ts'
import { ORIGIN, seedKey, seedOrganization, startHouse, type TestHouse } from '../tests/support/house.ts'
import { auditDemo } from './audit.ts'
import { linesOf } from './lines.ts'
import { type Demo, prepareDemo } from './prepare.ts'
import { EMAIL } from './workspace.ts'

const SCALE = 0.02
const now = Date.now()

/** The rows of an organization as a few numbers that do not depend on ids. A delivery in progress counts, its attempts do not, because they continue. */
async function sumsOf({ database }: TestHouse, org_id: number): Promise<unknown> {
  const { rows } = await database.reads.query(
    `select
       (select jsonb_agg(to_jsonb(c) order by c.name) from (
          select k.name, count(*), sum(c.stages), sum(c.revenue), count(distinct c.visitor_id), min(c.user_agent), max(c.sub1)
          from clicks c join campaigns k on k.org_id = $1 and k.id = c.campaign_id where c.org_id = $1 group by k.name) c) as clicks,
       (select jsonb_agg(to_jsonb(e) order by e.type) from (
          select type, count(*), sum(payout), min(nonce), max(created_at) from events where org_id = $1 group by type) e) as events,
       (select jsonb_agg(to_jsonb(l) order by l.kind) from (
          select kind, count(*), sum(amount) from ledger where org_id = $1 group by kind) l) as ledger,
       (select jsonb_build_array(count(*), sum(attempts) filter (where state = 'delivered'))
        from deliveries where org_id = $1) as deliveries,
       (select jsonb_agg(to_jsonb(d) order by d.state, d.reason) from (
          select state, reason, failure, count(*), sum(attempts), max(finished_at)
          from deliveries where org_id = $1 and kind = 'ad_account' group by 1, 2, 3) d) as told,
       (select jsonb_agg(to_jsonb(r) order by r.received_at) from (
          select received_at, diagnosis, error, type from refused_events where org_id = $1) r) as refused,
       (select jsonb_agg(to_jsonb(w) order by w.path) from (
          select click_flow_node_path as path, count(*), count(landing_id) as landed, count(bot_id) as to_bot
          from clicks where org_id = $1 and click_flow_node_path is not null group by 1) w) as ways,
       (select jsonb_build_array(count(*), count(bot_id)) from events
        where org_id = $1 and type = 'bot_start') as starts,
       (select jsonb_agg(jsonb_build_array(name, status, checked_at) order by name) from domains where org_id = $1) as domains,
       (select jsonb_build_array(count(*), sum(amount)) from ad_spend where org_id = $1) as spend,
       (select jsonb_build_array(count(*), sum(amount)) from account_spend where org_id = $1) as of_accounts,
       (select jsonb_build_array(count(*), sum(amount), sum(clicks)) from spend_spreads where org_id = $1) as spreads,
       (select jsonb_build_array(count(*), sum(amount)) from booked_spend where org_id = $1) as booked,
       (select count(*) from report_delta where org_id = $1) as unfolded`,
    [org_id],
  )
  return rows[0]
}

/** The words of a line as a shell would read them, for lines with plain single quotes. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
}

/** Sends the request of a curl line. */
async function send(line: string): Promise<Response> {
  const words = wordsOf(line)
  const headers = new Headers()
  let body: string | undefined
  let url = ''
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at] ?? ''
    if (word === '-sw') at += 1
    else if (word === '-H') {
      const [name = '', value = ''] = (words[(at += 1)] ?? '').split(/: (.*)/s)
      headers.set(name, value)
    } else if (word === '-d') body = words[(at += 1)]
    else if (!word.startsWith('-')) url = word
  }
  return fetch(url, { headers, redirect: 'manual', ...(body === undefined ? {} : { method: 'POST', body }) })
}

type Listed = Record<string, unknown>

/** The lists of the dashboard's screens. */
const SCREENS = [
  '/api/clicks',
  '/api/events',
  '/api/refused-events',
  '/api/campaigns',
  '/api/funnels',
  '/api/landings',
  '/api/click-flows',
  '/api/offers',
  '/api/caps',
  '/api/rules',
  '/api/networks',
  '/api/bots',
  '/api/broadcasts',
  '/api/channels',
  '/api/join-requests',
  '/api/postbacks',
  '/api/receivers',
  '/api/ad-accounts',
  '/api/spend-accounts',
  '/api/deliveries?kind=postback',
  '/api/deliveries?kind=ad_account',
  '/api/events?type=bot_start',
]

type Read = { body: unknown; location: string | null }

async function read(answer: Response): Promise<Read> {
  const text = await answer.text()
  return { body: text === '' ? null : JSON.parse(text), location: answer.headers.get('location') }
}

describe('the demo', () => {
  let house: TestHouse
  let demo: Demo

  before(async () => {
    house = await startHouse()
    demo = await prepareDemo(house.ground, { seed: 'test', now, scale: SCALE })
  })
  after(() => house.end())

  test('is the same each time it is made with the same seed on the same day', async () => {
    const other = await startHouse()
    const again = await prepareDemo(other.ground, { seed: 'test', now, scale: SCALE })
    const [sums, othersSums] = [await sumsOf(house, demo.org_id), await sumsOf(other, again.org_id)]
    await other.end()
    assert.deepEqual(othersSums, sums)
    assert.ok(demo.clicks > 1000 && demo.conversions > 50, `${demo.clicks} clicks, ${demo.conversions} conversions`)
  })

  test('is checked: revenue, ledger or counters that are off by one are found', async () => {
    const { worker } = house.database
    await auditDemo(worker, demo.org_id, now)
    const tampering = [
      'update clicks set revenue = revenue + $2 where org_id = $1 and revenue is not null',
      "update ledger set amount = amount + $2 where org_id = $1 and kind = 'adjustment'",
      'update report_day set clicks = clicks + $2 where org_id = $1 and dimension % 10 = 2',
      "update ad_accounts set created_at = created_at + $2 * interval '60 days' where org_id = $1",
    ]
    for (const change of tampering) {
      await worker.query(change, [demo.org_id, 1])
      await assert.rejects(auditDemo(worker, demo.org_id, now), /the demo is wrong/, change)
      await worker.query(change, [demo.org_id, -1])
    }
    await auditDemo(worker, demo.org_id, now)
  })

  test('prints lines that work as printed', async () => {
    const address = (await house.listen()).replace('127.0.0.1', 'localhost')
    const lines = linesOf({ ...demo, address, answering: 'this', start: 'npm start', now })
    const curls = lines.split('\n').filter(line => line.startsWith('curl '))
    const answers = await Promise.all(curls.map(send))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 201, 302],
    )
    const [feed, report, event, click] = (await Promise.all(answers.map(read))) as [Read, Read, Read, Read]
    assert.equal((feed.body as { data: unknown[] }).data.length, 3)
    assert.ok((report.body as { rows: unknown[] }).rows.length > 5)
    assert.equal((event.body as { type: string }).type, 'lead')
    assert.match(click.location ?? '', /click=[0-9a-z]{26}&creative=curl$/)
    assert.doesNotMatch(lines, /not running|other data/)
    const settings = lines.split('\n').find(line => line.startsWith('{"mcpServers"')) ?? assert.fail('no settings')
    const { sluice } = (
      JSON.parse(settings) as { mcpServers: { sluice: { url: string; headers: Record<string, string> } } }
    ).mcpServers
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    const listed = await fetch(sluice.url, { method: 'POST', headers: sluice.headers, body })
    assert.equal(((await listed.json()) as { result: { tools: unknown[] } }).result.tools.length, 25)
  })

  test('prints how to start it if nothing answers at the address, or a Sluice with other data', () => {
    const told = { ...demo, address: 'http://localhost:8080', start: 'PORT=8081 npm start', now }
    assert.match(linesOf({ ...told, answering: 'nobody' }), /not running; start it with: {2}PORT=8081 npm start\n/)
    assert.match(
      linesOf({ ...told, answering: 'another' }),
      /has other data: stop it, .*with: {2}PORT=8081 npm start\n/,
    )
  })

  /** Signs in with the printed password. Returns the session's cookie. */
  const signIn = async (): Promise<string> => {
    const body = { email: EMAIL, password: demo.password }
    const signedIn = await house.call('POST', '/api/auth/sign-in/email', { body, headers: { origin: ORIGIN } })
    assert.equal(signedIn.statusCode, 200)
    return String(signedIn.headers['set-cookie']).split(';', 1)[0] ?? ''
  }

  test('prints a sign-in that works, in the filled organization', async () => {
    const cookie = await signIn()
    const { data } = (await house.call('GET', '/api/campaigns', { cookie })).json<{ data: { name: string }[] }>()
    assert.equal(data.length, 12)
  })

  test('leaves no screen empty, and the trace of each kind of click opens', async () => {
    const cookie = await signIn()
    const listOf = async (url: string): Promise<Listed[]> =>
      (await house.call('GET', url, { cookie })).json<{ data: Listed[] }>().data
    for (const screen of SCREENS) assert.ok((await listOf(screen)).length > 0, screen)
    const rules = await listOf('/api/postbacks')
    assert.deepEqual(new Set(rules.map(({ on }) => on)), new Set(['recorded', 'any_change']))
    const domains = await listOf('/api/domains')
    assert.deepEqual(new Set(domains.map(({ status }) => status)), new Set(['active', 'pending']))
    const { lines } = (await house.call('GET', '/api/attention', { cookie })).json<{ lines: { kind: string }[] }>()
    const kinds = lines.map(({ kind }) => kind)
    for (const kind of ['calls_refused', 'macros_unfilled', 'channel_lost']) assert.ok(kinds.includes(kind), kind)
    const [account] = await listOf('/api/ad-accounts')
    assert.equal(account?.['state'], 'off')
    const [spending] = await listOf('/api/spend-accounts')
    assert.ok(spending !== undefined)
    const { spent, unmatched } = spending['last_30_days'] as unknown as { spent: string; unmatched: string }
    assert.equal(spending['state'], 'off')
    assert.ok(Number(unmatched) > 0 && Number(spent) > Number(unmatched), `${unmatched} of ${spent}`)
    const clickOf = async (url: string) => (await listOf(url)).find(row => row['click_id'] !== null)?.['click_id']
    const { rows: ways } = await house.database.reads.query<{ id: string }>(
      `select distinct on (campaign_id, landing_id is null) id from clicks
       where org_id = $1 and (click_flow_node_path is not null or landing_id is not null)`,
      [demo.org_id],
    )
    const clicks = [
      await clickOf('/api/events?type=bot_start'),
      await clickOf('/api/events?type=ftd'),
      await clickOf('/api/refused-events?diagnosis=conversion_unknown'),
      await clickOf('/api/deliveries?kind=ad_account'),
      ...ways.map(({ id }) => toWireId(id)),
    ]
    assert.ok(ways.length >= 3)
    for (const id of clicks)
      assert.equal((await house.call('GET', `/api/clicks/${String(id)}/trace`, { cookie })).statusCode, 200)
  })

  test('calls nobody outside: a new conversion goes to no ad account, and no delivery waits', async () => {
    const { rows } = await house.database.reads.query<{ id: string }>(
      "select id from clicks where org_id = $1 and platform = 'meta' and tracked order by id desc limit 1",
      [demo.org_id],
    )
    const body = { clickId: toWireId(rows[0]?.id ?? ''), type: 'lead', nonce: 'after the demo' }
    assert.equal((await house.call('POST', '/api/events', { key: demo.key.secret, body })).statusCode, 201)
    const { rows: waiting } = await house.database.reads.query(
      "select id from deliveries where org_id = $1 and kind = 'ad_account' and state not in ('delivered', 'failed')",
      [demo.org_id],
    )
    assert.deepEqual(waiting, [])
  })

  test('opens its Mini App by a page', async () => {
    const { rows } = await house.database.reads.query<{ key: string }>(
      "select key from campaigns where org_id = $1 and destination -> 'telegram' ->> 'type' = 'mini_app'",
      [demo.org_id],
    )
    const answer = await house.call('GET', `/c/${rows[0]?.key ?? ''}`, { headers: { 'user-agent': 'Mozilla/5.0' } })
    assert.match(answer.body, /href="https:\/\/t\.me\/coinpulse__demo_bot\/play\?startapp=ads-[0-9a-z]{26}"/)
  })

  test('sends each visitor to its channel by their own link', async () => {
    const { rows } = await house.database.reads.query<{ key: string }>(
      "select key from campaigns where org_id = $1 and destination ->> 'channel' is not null",
      [demo.org_id],
    )
    const headers = { 'user-agent': 'Mozilla/5.0 (Linux; Android 15; Pixel 8) Chrome/142.0.0.0 Mobile Safari/537.36' }
    const visit = async () => (await house.call('GET', `/c/${rows[0]?.key}`, { headers })).headers['location']
    const [one, other] = [await visit(), await visit()]
    assert.match(String(one), /^https:\/\/t\.me\/\+demo_/)
    assert.notEqual(one, other)
  })

  test('sends a visitor of its click flow to its bot', async () => {
    const { rows } = await house.database.reads.query<{ key: string }>(
      "select key from campaigns where org_id = $1 and destination ->> 'type' = 'click_flow' and offer_id is not null",
      [demo.org_id],
    )
    const headers = { 'user-agent': 'Mozilla/5.0 (Linux; Android 15; Pixel 8) Chrome/142.0.0.0 Mobile Safari/537.36' }
    const answer = await house.call('GET', `/c/${rows[0]?.key}`, { headers })
    assert.match(String(answer.headers['location']), /^https:\/\/t\.me\/coinpulse__demo_bot\?start=[0-9a-z]{26}$/)
  })

  test('run again fills nothing, replaces password and key, and touches no other organization', async () => {
    const stranger = await seedOrganization(house.database)
    const strangersKey = await seedKey(house.database, stranger, { rights: ['clicks'] })
    // Changes of the tests above are folded first, so that nothing changes during the comparison.
    const folder = openFolder(house.ground)
    await folder.foldAll()
    await folder.close()
    const before = await sumsOf(house, demo.org_id)
    const again = await prepareDemo(house.ground, { seed: 'another', now, scale: SCALE })
    assert.equal(again.org_id, demo.org_id)
    assert.ok(again.wasThere)
    assert.deepEqual(await sumsOf(house, demo.org_id), before)
    const feed = (key: string) => house.call('GET', '/api/v1/clicks?limit=1', { key })
    assert.equal((await feed(demo.key.secret)).statusCode, 401)
    assert.equal((await feed(again.key.secret)).statusCode, 200)
    assert.deepEqual((await feed(strangersKey.secret)).data(), { data: [], next_cursor: null })
    const signIn = (password: string) =>
      house.call('POST', '/api/auth/sign-in/email', { body: { email: EMAIL, password }, headers: { origin: ORIGIN } })
    assert.equal((await signIn(demo.password)).statusCode, 401)
    assert.equal((await signIn(again.password)).statusCode, 200)
  })
})
