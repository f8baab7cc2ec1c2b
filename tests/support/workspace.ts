// An organization through the API: a campaign, clicks, conversions, rules, deliveries.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestHouse } from './house.ts'
import { seedSignedIn } from './people.ts'
import type { Receiver } from './receiver.ts'
import { BROWSER } from './visits.ts'

/** A new organization with a campaign; its rules call the receiver. */
export async function seedWorkspace(house: TestHouse, receiver: Receiver) {
  const owner = await seedSignedIn(house)
  const as = { cookie: owner.cookie }
  const post = async (url: string, body: unknown, code = 200) => {
    const reply = await house.call('POST', url, { ...as, body })
    assert.equal(reply.statusCode, code, `${url}: ${reply.body}`)
    return reply.data()
  }
  const destination = { type: 'redirect', url: 'https://shop.example/?c={click_id}' }
  const campaign = await post('/api/campaigns', { name: 'C', destination }, 201)
  const click = async (query = '') => {
    // Ids of one millisecond have no order.
    await sleep(2)
    const visit = await house.call('GET', `/c/${String(campaign['key'])}?${query}`, { headers: BROWSER })
    return String(new URL(String(visit.headers.location)).searchParams.get('c'))
  }
  const convert = async (clickId: string, body: object = {}) =>
    String((await post('/api/events', { clickId, type: 'lead', ...body }, 201))['id'])
  const rule = async (fields: object = {}) =>
    String(
      (await post('/api/postbacks', { event_type: 'lead', url: `${receiver.origin}/p?e={event_id}`, ...fields }, 201))[
        'id'
      ],
    )
  const deliveries = async (query = '') =>
    (await house.call('GET', `/api/deliveries?${query}`, as)).json<{ data: Record<string, unknown>[] }>().data
  return { owner, as, post, campaign_id: String(campaign['id']), click, convert, rule, deliveries }
}
