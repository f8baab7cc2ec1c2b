// Notes of days: listed by day and campaign, and only of their own workspace.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { toWireId } from '../../contract/ids.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

async function workspace() {
  const owner = await seedSignedIn(house)
  const call = (method: Method, url: string, body?: unknown) =>
    house.call(method, url, { cookie: owner.cookie, ...(body === undefined ? {} : { body }) })
  const campaign = { name: 'C', destination: { type: 'redirect', url: 'https://s.example/' } }
  const { id } = (await call('POST', '/api/campaigns', campaign)).data()
  return { call, campaign_id: String(id), organization_id: toWireId(owner.organization_id) }
}

test('notes are written, found by day and campaign, changed and deleted', async () => {
  const { call, campaign_id } = await workspace()
  const note = async (day: string, text: string, of?: string) => {
    const reply = await call('POST', '/api/notes', { day, text, ...(of === undefined ? {} : { campaign_id: of }) })
    assert.equal(reply.statusCode, 201, reply.body)
    return String(reply.data()['id'])
  }
  const texts = async (query: string) =>
    (await call('GET', `/api/notes?${query}`)).json<{ data: { text: string }[] }>().data.map(({ text }) => text)
  const all = await note('2026-11-20', 'New landing')
  await note('2026-11-22', 'Offer paused', campaign_id)
  assert.deepEqual(await texts(''), ['Offer paused', 'New landing'])
  assert.deepEqual(await texts('date_from=2026-11-21'), ['Offer paused'])
  assert.deepEqual(await texts('date_to=2026-11-21'), ['New landing'])
  assert.deepEqual(await texts(`campaign_id=${campaign_id}`), ['Offer paused', 'New landing'])
  const other = (await workspace()).campaign_id
  assert.deepEqual(await texts(`campaign_id=${other}`), ['New landing'])
  assert.equal((await call('PATCH', `/api/notes/${all}`, { text: 'Old landing' })).data()['text'], 'Old landing')
  assert.equal((await call('DELETE', `/api/notes/${all}`)).statusCode, 200)
  assert.deepEqual(await texts(''), ['Offer paused'])
})

test('marks are the notes of days and the changes that explain a chart, oldest first', async () => {
  const { call, campaign_id } = await workspace()
  const graph = { nodes: [{ id: 'e', type: 'entry' }], edges: [] }
  const flow = String((await call('POST', '/api/click-flows', { name: 'Flow', graph })).data()['id'])
  await call('POST', '/api/notes', { day: '2026-01-02', text: 'New landing' })
  for (const status of ['paused', 'active', 'archived'])
    await call('PUT', `/api/campaigns/${campaign_id}/status`, { status })
  await call('POST', `/api/click-flows/${flow}/publish`)
  const marks = async (query = '') =>
    (await call('GET', `/api/marks?${query}`)).json<{
      data: {
        at: string
        day: string
        kind: string
        text: string
        campaign_id: string | null
        history_id: string | null
      }[]
    }>().data
  const all = await marks()
  assert.deepEqual(
    all.slice(0, 4).map(({ kind, text }) => [kind, text]),
    [
      ['note', 'New landing'],
      ['paused', 'C'],
      ['resumed', 'C'],
      ['archived', 'C'],
    ],
  )
  assert.deepEqual([all[0]?.at, all[0]?.day, all[0]?.history_id], ['2026-01-02T00:00:00.000Z', '2026-01-02', null])
  assert.ok(all.slice(1).every(({ at, day, history_id }) => history_id !== null && day === at.slice(0, 10)))
  assert.deepEqual(
    (await marks('date_to=2026-01-02')).map(({ kind }) => kind),
    ['note'],
  )
  assert.equal(
    (await marks('date_from=2026-01-03')).some(({ kind }) => kind === 'note'),
    false,
  )
  const other = (await workspace()).campaign_id
  assert.equal(
    (await marks(`campaign_id=${other}`)).some(({ campaign_id: of }) => of === campaign_id),
    false,
  )
  assert.deepEqual((await (await workspace()).call('GET', '/api/marks')).data()['data'], [])
})

test('a mark has the day of its note in every time zone', async () => {
  const { call, organization_id } = await workspace()
  await call('PATCH', `/api/organizations/${organization_id}`, { timezone: 'Europe/Kyiv' })
  await call('POST', '/api/notes', { day: '2026-01-02', text: 'New landing' })
  const [mark] = (await call('GET', '/api/marks')).json<{ data: { at: string; day: string }[] }>().data
  assert.deepEqual([mark?.at, mark?.day], ['2026-01-01T22:00:00.000Z', '2026-01-02'])
})

test('a note without a day or text, of a foreign campaign or in another workspace is refused', async () => {
  const { call } = await workspace()
  const stranger = await workspace()
  for (const body of [
    { day: '2026-13-01', text: 'x' },
    { day: '2026-11-20', text: '' },
    { text: 'x' },
    { day: '2026-11-20', text: 'x', campaign_id: stranger.campaign_id },
  ])
    assert.equal((await call('POST', '/api/notes', body)).statusCode, 400)
  const { id } = (await call('POST', '/api/notes', { day: '2026-11-20', text: 'x' })).data()
  for (const [method, body] of [['GET'], ['PATCH', { text: 'y' }], ['DELETE']] as [Method, unknown?][])
    assert.equal((await stranger.call(method, `/api/notes/${String(id)}`, body)).statusCode, 404)
  assert.deepEqual((await stranger.call('GET', '/api/notes')).data()['data'], [])
})
