// The two forms of which conversions a rule calls for agree over the same conversions, through the door.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../../../tests/support/eventually.ts'
import { useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { continueRuns } from '../deliveries/portions.ts'
import { postbackLane } from './lane.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

test('a run over the past puts out what a rule that was there has put out, for each type, campaign and kind of click', async () => {
  const owner = await seedSignedIn(house)
  const ask = async (method: 'GET' | 'POST', url: string, body?: object) => {
    const reply = await house.call(method, url, { cookie: owner.cookie, ...(body && { body }) })
    assert.ok(reply.statusCode < 300, `${method} ${url}: ${reply.body}`)
    return reply.data()
  }
  const destination = { type: 'redirect', url: 'https://shop.example/?c={click_id}' }
  const campaigns = [
    await ask('POST', '/api/campaigns', { name: 'One', destination }),
    await ask('POST', '/api/campaigns', { name: 'Other', destination }),
  ]
  const rules = [null, ...campaigns.map(({ id }) => id)].flatMap(campaign_id =>
    [true, false].map(once_per_person => ({ event_type: 'lead', campaign_id, once_per_person })),
  )
  const make = async (rule: object) =>
    String((await ask('POST', '/api/postbacks', { ...rule, url: 'http://127.0.0.1:9/?e={event_id}' }))['id'])
  const there = await Promise.all(rules.map(make))

  for (const { id } of campaigns) {
    const { url: tested } = await ask('GET', `/api/campaigns/${String(id)}/test-link`)
    for (const link of [String(tested), String(tested).replace(/\?.*/, '')]) {
      const { pathname, search } = new URL(link, 'http://localhost')
      const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x64) Chrome/130.0.0.0' }
      const visit = await house.call('GET', pathname + search, { headers })
      const clickId = new URL(String(visit.headers.location)).searchParams.get('c')
      for (const type of ['lead', 'ftd'])
        for (const nonce of ['1', '2']) await ask('POST', '/api/events', { clickId, type, nonce })
    }
  }

  for (const [at, rule] of rules.entries()) {
    const late = await make(rule)
    await ask('POST', `/api/postbacks/${late}/backfill`, { dry_run: false })
    // The house's own worker may be working on the run.
    await eventually('the run is over', async () => {
      await continueRuns(house.database.worker, [postbackLane])
      const { data } = (await ask('GET', '/api/delivery-runs')) as { data: { outcome: string | null }[] }
      return data.every(({ outcome }) => outcome !== null)
    })
    const eventsOf = async (target_id: string | undefined) =>
      ((await ask('GET', `/api/deliveries?target_id=${target_id}`))['data'] as { event_id: string }[])
        .map(({ event_id }) => event_id)
        .sort()
    const put = await eventsOf(there[at])
    assert.equal(put.length, (rule.campaign_id === null ? 2 : 1) * (rule.once_per_person ? 1 : 2), JSON.stringify(rule))
    assert.deepEqual(await eventsOf(late), put, JSON.stringify(rule))
  }
})
