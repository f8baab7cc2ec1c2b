// Click flows, and their destinations, through the API.
import assert from 'node:assert/strict'
import type { Right } from '../../src/contract/rights.ts'
import type { Graph } from '../../src/traffic/click-flows/api.ts'
import { seedKey, type TestHouse } from './house.ts'
import type { SignedIn } from './people.ts'

type Login = { cookie?: string; key?: string }
export type WireFlow = {
  id: string
  name: string
  status: string
  published_version: number | null
  is_draft_published: boolean
  campaigns: { id: string; name: string }[]
  graph: Graph
  problems: { node_id: string | null; message: string }[]
  updated_at: string
}

/** The calls of one house, as `owner` unless a call names another person. */
export function flowCalls(house: TestHouse, owner: SignedIn) {
  const at = (id: string, rest = '') => `/api/click-flows/${id}${rest}`
  const made = async (url: string, body: object, as: Login): Promise<string> => {
    const reply = await house.call('POST', url, { ...as, body })
    assert.equal(reply.statusCode, 201, reply.body)
    return String(reply.data()['id'])
  }
  return {
    create: (body: unknown, as: Login = owner) => house.call('POST', '/api/click-flows', { ...as, body }),
    read: (id: string, as: Login = owner) => house.call('GET', at(id), as),
    put: (id: string, body: unknown, as: Login = owner) => house.call('PUT', at(id), { ...as, body }),
    setStatus: (id: string, status: unknown, as: Login = owner) =>
      house.call('PUT', at(id, '/status'), { ...as, body: { status } }),
    publish: (id: string, as: Login = owner) => house.call('POST', at(id, '/publish'), as),
    remove: (id: string, as: Login = owner) => house.call('DELETE', at(id), as),
    versions: (id: string, query = '', as: Login = owner) => house.call('GET', at(id, `/versions${query}`), as),
    version: (id: string, version: number | string, as: Login = owner) =>
      house.call('GET', at(id, `/versions/${version}`), as),
    restore: (id: string, version: number | string, as: Login = owner) =>
      house.call('POST', at(id, `/versions/${version}/restore`), as),
    attempt: (id: string, body: unknown, as: Login = owner) => house.call('POST', at(id, '/try'), { ...as, body }),
    /** A flow's id. */
    flow: (graph: unknown, as: Login = owner, name = 'Flow') => made('/api/click-flows', { name, graph }, as),
    offer: (name: string, as: Login = owner) =>
      made('/api/offers', { name, url: `https://offer.example/${name}?c={click_id}` }, as),
    landing: (name: string, as: Login = owner) =>
      made('/api/landings', { name, url: `https://land.example/${name}?c={click_id}` }, as),
    /** A campaign that leads to a flow, with a fallback. */
    async campaign(
      click_flow_id: string,
      fields: object = {},
      as: Login = owner,
    ): Promise<{ id: string; key: string }> {
      const destination = { type: 'click_flow', click_flow_id }
      const body = { name: 'C', destination, fallback_url: 'https://fallback.example/?c={click_id}', ...fields }
      const reply = await house.call('POST', '/api/campaigns', { ...as, body })
      assert.equal(reply.statusCode, 201, reply.body)
      return reply.json()
    },
    async key(rights: Right[], campaigns?: string[]): Promise<Login> {
      const { secret } = await seedKey(house.database, owner, { rights, ...(campaigns && { campaigns }) })
      return { key: secret }
    },
  }
}
