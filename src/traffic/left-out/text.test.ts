// Left-out values as text, in and out, and copies of campaigns.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { capsAs } from '../../../tests/support/caps.ts'
import { newId, seedKey, type TestHouse, toWireId, useHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { ALL_RIGHTS } from '../../contract/rights.ts'

let house: TestHouse
let owner: SignedIn
let at: ReturnType<typeof capsAs>
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
  at = capsAs(house, owner)
})
after(() => house.end())

type Line = { line: number | null; value: string; fate: string; error: string | null }
type Imported = { added: number; same: number; removed: number; wrong: number; dry_run: boolean; lines: Line[] }
type Row = { value: string; leads_to: object; note: string | null; until: string | null }
const listOf = (id: string) => `/api/campaigns/${id}/left-out`
const URL_DESTINATION = { type: 'redirect', url: 'https://a.example/' }
const bodyOf = (text: string, fields: object = {}) => ({ field: 'sub1', text, mode: 'add', dry_run: false, ...fields })
const taken = (id: string, text: string, fields: object = {}) =>
  at.did<Imported>('POST', `${listOf(id)}/import`, bodyOf(text, fields))
const textOf = async (id: string, query = '') => (await at.ask('GET', `${listOf(id)}/text?field=sub1${query}`)).body
const historyRows = async () =>
  (
    await at.did<{ data: { object_name: string; change: string; act_id: string }[] }>(
      'GET',
      '/api/history?kind=left_out',
    )
  ).data

test('a text goes in by lines, and a dry run says the same and changes nothing', async () => {
  const { id } = await at.campaign(URL_DESTINATION)
  await at.did('POST', listOf(id), { field: 'sub1', values: ['kept', 'gone'] })
  const text = '\uFEFFkept\r\nnew one\n\n  \n new one\nnew one\n'
  const dry = await taken(id, text, { mode: 'replace', dry_run: true })
  assert.deepEqual(
    dry.lines.map(({ line, value, fate }) => [line, value, fate]),
    [
      [1, 'kept', 'same'],
      [2, 'new one', 'new'],
      [5, ' new one', 'new'],
      [6, 'new one', 'same'],
      [null, 'gone', 'removed'],
    ],
  )
  assert.deepEqual([dry.added, dry.same, dry.removed, dry.wrong], [2, 2, 1, 0])
  assert.equal(await textOf(id), 'kept\ngone\n')
  const done = await taken(id, text, { mode: 'replace' })
  assert.deepEqual(done, { ...dry, dry_run: false })
  assert.equal(await textOf(id), 'kept\nnew one\n new one\n')
  const rows = (await historyRows()).slice(0, 3)
  assert.deepEqual(new Set(rows.map(({ object_name, change }) => `${object_name} ${change}`)).size, 3)
  assert.equal(new Set(rows.map(({ act_id }) => act_id)).size, 1)
  assert.deepEqual((await taken(id, text)).added, 0)
})

test('with a wrong line a text goes in not at all, and the dry run says which', async () => {
  const { id } = await at.campaign(URL_DESTINATION)
  const text = `good\n{zoneid}\n${'x'.repeat(501)}`
  const dry = await taken(id, text, { dry_run: true })
  assert.deepEqual(
    dry.lines.map(({ line, fate, error }) => [line, fate, error]),
    [
      [1, 'new', null],
      [2, 'wrong', 'is a macro that was not replaced'],
      [3, 'wrong', 'is longer than 500 bytes'],
    ],
  )
  assert.equal(dry.wrong, 2)
  const refused = await at.ask('POST', `${listOf(id)}/import`, bodyOf(text))
  assert.equal(refused.statusCode, 400)
  assert.match(String(refused.data()['error']), /line 2 is a macro .*; line 3 /)
  assert.equal(await textOf(id), '')
  const tooMany = Array.from({ length: 10_001 }, (_, at) => `z${at}`).join('\n')
  for (const dry_run of [true, false]) {
    const full = await at.ask('POST', `${listOf(id)}/import`, bodyOf(tooMany, { dry_run }))
    assert.deepEqual([full.statusCode, full.data()['code']], [409, 'left_out_limit'])
  }
  assert.equal(await textOf(id), '')
})

test('10,000 values go in and out', async () => {
  const { id } = await at.campaign(URL_DESTINATION)
  const text = Array.from({ length: 10_000 }, (_, at) => `zone-${at}\n`).join('')
  assert.equal((await taken(id, text)).added, 10_000)
  assert.equal(await textOf(id), text)
  assert.equal((await taken(id, '', { mode: 'replace' })).removed, 10_000)
  assert.equal(await textOf(id), '')
})

test('the text has the form of the source, lines where none is known', async () => {
  const source = await at.did<{ id: string }>('POST', '/api/traffic-sources', { name: 'M', template: 'mgid' })
  const { id } = await at.campaign(URL_DESTINATION, { traffic_source_id: source.id })
  await at.did('POST', listOf(id), { field: 'sub1', values: ['1', '2'] })
  await at.did('POST', listOf(id), { field: 'sub2', values: ['3'] })
  assert.deepEqual(
    [await textOf(id), await textOf(id, '&form=commas'), await textOf(id, '&form=source')],
    ['1\n2\n', '1,2', '1,2'],
  )
  const plain = await at.campaign(URL_DESTINATION)
  await at.did('POST', listOf(plain.id), { field: 'sub1', values: ['1', '2'] })
  assert.equal(await textOf(plain.id, '&form=source'), '1\n2\n')
  const answer = await at.ask('GET', `${listOf(id)}/text?field=sub1`)
  assert.match(String(answer.headers['content-type']), /^text\/plain/)
})

test('a copy of a campaign takes the list along, and no key can send that', async () => {
  const offer = await at.offer()
  const { id } = await at.follow(offer.id)
  const until = '2036-01-01T00:00:00.000Z'
  const leads_to = { type: 'offer', offer_id: offer.id }
  await at.did('POST', listOf(id), { field: 'sub1', values: ['a', 'b'], note: 'loses', until, leads_to })
  const copy = await at.follow(offer.id, { left_out_of: id })
  const rows = (await at.did<{ data: Row[] }>('GET', listOf(copy.id))).data
  assert.deepEqual(
    rows.map(({ value, note, until: end, leads_to: leads }) => [value, note, end, leads]),
    ['b', 'a'].map(value => [value, 'loses', until, leads_to]),
  )
  const reply = await house.call('GET', `/c/${copy.key}?sub1=a`, { headers: { 'user-agent': 'Mozilla/5.0' } })
  assert.equal(URL.parse(String(reply.headers.location))?.host, offer.host)
  const draft = { name: 'Copy', destination: URL_DESTINATION }
  const stranger = await seedSignedIn(house)
  const byStranger = await at.ask('POST', '/api/campaigns', { ...draft, left_out_of: id }, stranger)
  assert.equal(byStranger.statusCode, 400)
  const { secret: key } = await seedKey(house.database, owner, { rights: ALL_RIGHTS })
  const byKey = await at.ask('POST', '/api/campaigns', { ...draft, left_out_of: id }, { key })
  assert.deepEqual([byKey.statusCode, byKey.data()['code']], [403, 'api_key_resource_forbidden'])
})

test('another workspace, a member and a key cannot import, and strangers read no text', async () => {
  const { id } = await at.campaign(URL_DESTINATION)
  const stranger = await seedSignedIn(house)
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  const { secret: key } = await seedKey(house.database, owner, { rights: ALL_RIGHTS })
  const importing = (as: object, of = id) => at.ask('POST', `${listOf(of)}/import`, bodyOf('a'), as)
  const reading = (as: object, of = id) => at.ask('GET', `${listOf(of)}/text?field=sub1`, undefined, as)
  const statuses = async (...asked: ReturnType<typeof importing>[]) =>
    (await Promise.all(asked)).map(({ statusCode }) => statusCode)
  assert.deepEqual(await statuses(importing(stranger), importing(owner, toWireId(newId()))), [404, 404])
  assert.deepEqual(await statuses(importing(member), importing({ key })), [403, 403])
  assert.deepEqual(await statuses(reading(stranger), reading(member), reading({ key })), [404, 200, 403])
  const creative = await at.ask('POST', `${listOf(id)}/import`, bodyOf('a', { field: 'creative' }))
  assert.equal(creative.statusCode, 400)
  assert.equal(await textOf(id), '')
})
