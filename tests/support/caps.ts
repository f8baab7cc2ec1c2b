// Caps, and the offers and campaigns that have them, through the API.
import assert from 'node:assert/strict'
import type { TestHouse } from './house.ts'
import { BROWSER } from './visits.ts'

export type CapReply = {
  id: string
  state: 'open' | 'reached'
  used: number
  reserved: number
  over_by: number
  reached_at: string | null
  reopened_at: string | null
  reopened_by: string | null
  counted_from: string
  resets_at: string | null
  limit: number
  then_offer_id: string | null
  active: boolean
  event_types: string[]
  timezone: string
  period: string
  object_name: string
}
type Login = { cookie?: string; key?: string }
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The calls of a test as this person. */
export function capsAs(house: TestHouse, as: Login) {
  const ask = (method: Method, url: string, body?: object, other: Login = as) =>
    house.call(method, url, { ...other, ...(body && { body }) })
  const did = async <T = Record<string, unknown>>(method: Method, url: string, body?: object): Promise<T> => {
    const reply = await ask(method, url, body)
    assert.ok(reply.statusCode < 300, `${method} ${url}: ${reply.body}`)
    return reply.json<T>()
  }
  let made = 0
  /** An offer whose address has its name as host. */
  const offer = async (name = `offer${(made += 1)}`) => {
    const { id } = await did<{ id: string }>('POST', '/api/offers', {
      name,
      url: `https://${name}.example/?c={click_id}`,
      payout: '5',
    })
    return { id, host: `${name}.example` }
  }
  const campaign = (destination: object, fields: object = {}) =>
    did<{ id: string; key: string }>('POST', '/api/campaigns', { name: 'Spring', destination, ...fields })
  return {
    ask,
    did,
    offer,
    campaign,
    follow: (offer_id: string, fields: object = {}) => campaign({ type: 'offer', offer_id }, fields),
    cap: (object_id: string, fields: object = {}) =>
      did<CapReply>('POST', '/api/caps', {
        object: 'offer',
        object_id,
        metric: 'conversions',
        limit: 1,
        period: 'day',
        ...fields,
      }),
    async read(id: string): Promise<CapReply> {
      const { data } = await did<{ data: CapReply[] }>('GET', '/api/caps?limit=200')
      return data.find(one => one.id === id) ?? assert.fail('the cap is not in the list')
    },
    /** The destination of a visitor, and their click. */
    async visit(key: string, of = house, headers: Record<string, string> = {}) {
      const reply = await of.call('GET', `/c/${key}`, { headers: { ...BROWSER, ...headers } })
      const to = reply.headers.location === undefined ? undefined : new URL(String(reply.headers.location))
      return { status: reply.statusCode, host: to?.host, click: to?.searchParams.get('c') ?? '' }
    },
    convert: (clickId: string, fields: object = {}) => ask('POST', '/api/events', { clickId, type: 'lead', ...fields }),
  }
}
