// Answers, files and local files of an organization have its own data only, and nothing that names a visitor.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { askerOf } from '../../../tests/support/any-question.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { newId, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedBot, seedOffer } from '../../../tests/support/intake.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { readSegments } from '../../../tests/support/segments.ts'
import { aClick, BROWSER, seedCampaign } from '../../../tests/support/visits.ts'
import { DAY_MS } from '../../contract/days.ts'
import { type ExploreFilter, ExploreQuestion } from '../../contract/explore.ts'
import {
  EXPLORE_DIMENSIONS,
  type ExploreDimension,
  isObjectDimension,
  isTextDimension,
} from '../../contract/explore-dimensions.ts'
import { toUuid } from '../../contract/ids.ts'
import { storeClicks } from '../../intake/clicks/store.ts'
import { decode } from '../segments/parquet.ts'
import { sealAll } from '../segments/seal.ts'

let house: TestHouse
before(async () => {
  // The house neither seals nor checks in the background: the test does.
  house = await startHouse({ ROLE: 'serve', BASE_URL: 'http://localhost:8080' })
})
after(() => house.end())

const window = () => ({
  date_from: new Date(Date.now() - 2 * DAY_MS).toISOString(),
  date_to: new Date(Date.now() + DAY_MS).toISOString(),
})
const seal = () => sealAll(house.database.worker, house.ground.secrets)
const parseQuestion = (question: object) => ExploreQuestion.parse({ ...window(), ...question })

type Place = SignedIn & { readonly word: string; readonly ids: Readonly<Record<string, string>> }

/** An organization whose every text and object name has `word` in it. */
async function seedWords(word: string): Promise<Place> {
  const owner = await seedSignedIn(house)
  const { org_id } = owner
  const { id: campaign } = await seedCampaign(house.database, org_id)
  const { worker } = house.database
  const ids = {
    campaign,
    offer: await seedOffer(house.database, org_id),
    bot: await seedBot(house.database, org_id, `${word}_bot`),
    landing: newId(),
    ad_account: newId(),
  }
  for (const [table, id] of [
    ['campaigns', campaign],
    ['offers', ids.offer],
  ])
    await worker.query(`update ${table} set name = $3 where org_id = $1 and id = $2`, [org_id, id, `${word} ${table}`])
  return { ...owner, word, ids }
}

const SUBS = [
  'sub1',
  'sub2',
  'sub3',
  'sub4',
  'sub5',
  'sub6',
  'sub7',
  'sub8',
  'sub9',
  'ref_id',
  'os',
  'browser',
] as const

/** Clicks with the words of a place, or with the objects of another place if given. */
const storeWords = ({ org_id, word }: Place, ids: Place['ids'], count: number) =>
  storeClicks(
    house.database.clicks,
    Array.from({ length: count }, (_, at) => ({
      ...aClick(house.ground.secrets.clickKey, org_id, {
        ...Object.fromEntries(SUBS.map(name => [name, `${word} ${name} ${at}`])),
        campaign_id: ids['campaign'] ?? null,
        offer_id: ids['offer'] ?? null,
        bot_id: ids['bot'] ?? null,
        landing_id: ids['landing'] ?? null,
        ad_account_id: ids['ad_account'] ?? null,
        click_flow_node_path: `${word}>path`,
      }),
    })),
  )

/** The contents of all files below a folder. */
const filesIn = (folder: string): { path: string; body: Buffer }[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(one => one.isFile())
    .map(one => join(one.parentPath, one.name))
    .map(path => ({ path, body: readFileSync(path) }))

/** The bytes of a file, and for Parquet also its decoded rows. */
async function told(body: Buffer): Promise<string> {
  const raw = body.toString('latin1')
  if (!raw.startsWith('PAR1')) return raw
  return raw + JSON.stringify(await decode(body), (_, value) => (typeof value === 'bigint' ? String(value) : value))
}

/** Everything that the routes say about each dimension: an answer, its file, and the values for filters. */
async function allTold({ cookie }: Place, dimensions: readonly ExploreDimension[]): Promise<string> {
  const ask = askerOf(house, cookie)
  let all = ''
  for (const dimension of dimensions) {
    const question = parseQuestion({ levels: [{ dimension, top: 1000 }] })
    all += JSON.stringify((await ask(question)).rows)
    const file = await house.call('POST', '/api/explore/csv', { cookie, body: question })
    assert.equal(file.statusCode, 200, file.body)
    const query = new URLSearchParams({ dimension, ...(isTextDimension(dimension) && window()) })
    const values = await house.call('GET', `/api/explore/values?${query.toString()}`, { cookie })
    all += file.body + values.body
  }
  return all
}

test('another organization’s words, names and ids are in no answer, file, value or local file', async () => {
  const [own, other] = [await seedWords('ourselves'), await seedWords('strangers')]
  for (const place of [own, other]) await storeWords(place, place.ids, 3)
  await seal()
  for (const place of [own, other]) await storeWords(place, place.ids, 2)
  // A click that names another organization's objects, which no process would store.
  await storeWords(own, other.ids, 1)
  // The full run checks every question, the short one those that could leak.
  const led = process.env['SLUICE_TEST_ALL'] ? EXPLORE_DIMENSIONS : EXPLORE_DIMENSIONS.filter(isObjectDimension)
  const [ours, theirs] = [await allTold(own, [...led, 'sub1']), await allTold(other, [...led, 'sub1'])]
  assert.ok(ours.includes('ourselves campaigns') && theirs.includes('strangers campaigns'))
  assert.ok(!ours.includes('strangers'))
  assert.ok(!theirs.includes('ourselves'))
  for (const id of Object.values(own.ids)) assert.ok(!theirs.includes(toWireId(id)) && !theirs.includes(id))
  const folder = join(house.ground.config.dataDir, 'explore')
  for (const [place, word] of [
    [own, 'strangers'],
    [other, 'ourselves'],
  ] as const) {
    const files = filesIn(join(folder, String(place.org_id)))
    assert.ok(files.length > 0)
    for (const { path, body } of files) assert.ok(!(await told(body)).includes(word), path)
  }
})

test('filters, opened rows and searches that name another organization’s objects find nothing', async () => {
  const [own, other] = [await seedWords('ourselves'), await seedWords('strangers')]
  for (const place of [own, other]) await storeWords(place, place.ids, 3)
  await seal()
  const ask = askerOf(house, own.cookie)
  const named: ExploreFilter[] = [
    ...Object.entries(other.ids).map(
      ([dimension, id]) => ({ dimension, op: 'is', values: [toWireId(id)] }) as ExploreFilter,
    ),
    ...SUBS.map(dimension => ({ dimension, op: 'contains' as const, values: ['strangers'] })),
    { dimension: 'path', op: 'in', values: ['strangers>path'] },
  ]
  for (const filter of named) {
    assert.equal(isObjectDimension(filter.dimension) || isTextDimension(filter.dimension), true)
    const { rows, totals } = await ask(parseQuestion({ levels: [{ dimension: 'day' }], filters: [filter] }))
    assert.deepEqual([rows, totals.clicks], [[], 0], JSON.stringify(filter))
  }
  const levels = [{ dimension: 'campaign' }, { dimension: 'sub1' }]
  const branch = await ask(parseQuestion({ levels, within: [toWireId(other.ids['campaign'] ?? '')] }))
  assert.deepEqual([branch.rows, branch.totals.clicks], [[], 0])
  for (const dimension of ['sub1', 'ref_id', 'path', 'campaign', 'offer', 'bot']) {
    const query = new URLSearchParams({ dimension, search: 'strangers', ...window() })
    const values = await house.call('GET', `/api/explore/values?${query.toString()}`, { cookie: own.cookie })
    assert.deepEqual(values.json(), { values: [] }, dimension)
  }
})

test('nothing that names a visitor is in a segment or a local file: address, agent, ids of ads, click, visitor and person', async () => {
  const owner = await seedSignedIn(house)
  const { org_id } = owner
  const campaign = await seedCampaign(house.database, org_id)
  const agent = `${BROWSER['user-agent']} VeryRareAgent/4711`
  const said = { fbclid: 'known-fbclid', gclid: 'known-gclid', ttclid: 'known-ttclid', gbraid: 'known-gbraid' }
  const answer = await house.call(
    'GET',
    `/c/${campaign.key}?${new URLSearchParams({ ...said, sub1: 'readable' }).toString()}`,
    {
      headers: { 'user-agent': agent, 'x-forwarded-for': '203.0.113.77', cookie: '' },
    },
  )
  assert.equal(answer.statusCode, 302)
  const id = toUuid(URL.parse(String(answer.headers['location']))?.searchParams.get('c') ?? '') ?? assert.fail()
  const stored = async () =>
    (
      await house.database.worker.query<{ fbclid: string | null }>(
        'select fbclid from clicks where org_id = $1 and id = $2',
        [org_id, id],
      )
    ).rows[0]?.fbclid
  await eventually('the click is stored', async () => (await stored()) === said.fbclid)
  const [visitor, ip_hash] = [newId(), 'a1b2c3d4e5f60718']
  const hidden = { visitor_id: visitor, ip_hash, user_agent: agent, ...said }
  await storeClicks(house.database.clicks, [
    aClick(house.ground.secrets.clickKey, org_id, { ...hidden, sub1: 'readable' }),
  ])
  const start = { type: 'bot_start', payload: { telegram_user_id: '887766554433', email: 'known@example.com' } }
  const event = await house.call('POST', '/api/events', {
    cookie: owner.cookie,
    body: { clickId: toWireId(id), ...start },
  })
  assert.equal(event.statusCode, 201, event.body)
  const ask = askerOf(house, owner.cookie)
  const question = parseQuestion({ levels: [{ dimension: 'sub1' }] })
  assert.equal((await ask(question)).rows[0]?.key, 'readable')
  await seal()
  assert.equal((await ask(question)).rows[0]?.key, 'readable')
  const texts = [
    ...Object.values(said),
    agent,
    'VeryRareAgent',
    '203.0.113.77',
    '127.0.0.1',
    '887766554433',
    'known@example.com',
    id,
    toWireId(id),
    visitor,
    toWireId(visitor),
  ]
  const bytes = [id, visitor, ip_hash].map(hex => Buffer.from(hex.replaceAll('-', ''), 'hex'))
  const folder = join(house.ground.config.dataDir, 'explore', String(org_id))
  const bodies = [
    ...(await readSegments(house.database, org_id)).map(({ id: path, body }) => ({ path, body })),
    ...filesIn(folder),
  ]
  assert.ok(bodies.length >= 2)
  for (const { path, body } of bodies) {
    const all = await told(body)
    assert.ok(all.includes('readable') || !all.startsWith('PAR1'))
    for (const text of texts) assert.ok(!all.toLowerCase().includes(text.toLowerCase()), `${text} in ${path}`)
    for (const some of bytes) assert.ok(!body.includes(some) && !all.includes(some.toString('hex')), path)
  }
})
