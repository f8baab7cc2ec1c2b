// Requests that probably mean something else: by tool and over HTTP they are refused, or answered with a warning.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ALL_RIGHTS } from '../src/contract/rights.ts'
import { seedKey, type TestHouse, useHouse } from './support/house.ts'
import { type SignedIn, seedSignedIn } from './support/people.ts'
import { callTool } from './support/tools.ts'

type Body = Record<string, unknown>
type Warning = { code: string; field: string; message: string }

let house: TestHouse
let owner: SignedIn
let key: string
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
  key = (await seedKey(house.database, owner, { rights: ALL_RIGHTS })).secret
})
after(() => house.end())

/** The result of a tool, refused or not. */
async function byTool(name: string, args: Body): Promise<Body & { id: string; warnings: Warning[] }> {
  return (await callTool(house, key, `service_${name}`, args)).structuredContent as never
}

/** The answer to a key over HTTP. */
async function byHttp(method: 'POST' | 'PUT' | 'PATCH' | 'GET' | 'DELETE', path: string, body?: Body) {
  const reply = await house.call(method, path, { key, ...(body === undefined ? {} : { body }) })
  return { status: reply.statusCode, ...reply.json<Body & { id: string; warnings: Warning[] }>() }
}

/** A graph that sends visitors to a or b by one condition. */
const forked = (condition: Body) => ({
  nodes: [
    { id: 'in', type: 'entry' },
    { id: 'ask', type: 'condition', ...condition },
    { id: 'a', type: 'redirect', url: 'https://a.example/' },
    { id: 'b', type: 'redirect', url: 'https://b.example/' },
  ],
  edges: [
    { from: 'in', to: 'ask' },
    { from: 'ask', to: 'a', branch: 'yes' },
    { from: 'ask', to: 'b', branch: 'no' },
  ],
})

describe('a click flow', () => {
  test('with values at a condition that takes none is not published', async () => {
    for (const [condition, words] of [
      [{ field: 'bot', values: ['false'] }, /ask: takes no values: yes means a crawler/],
      [{ field: 'uniqueness', values: ['returning'] }, /ask: takes no values: yes means a new visitor/],
    ] as const) {
      const draft = { name: 'F', graph: forked(condition) }
      const told = await byTool('create_click_flow', draft)
      const sent = await byHttp('POST', '/api/click-flows', draft)
      assert.deepEqual(told['problems'], sent['problems'])
      assert.match(JSON.stringify(told['problems']), words)
      const refused = await byTool('publish_click_flow', { click_flow_id: told.id })
      assert.deepEqual([refused['status'], refused['code']], [422, 'click_flow_incomplete'])
      assert.equal((await byHttp('POST', `/api/click-flows/${sent.id}/publish`)).status, 422)
      for (const { id } of [told, sent]) {
        const flow = await house.call('GET', `/api/click-flows/${id}`, owner)
        assert.deepEqual([flow.data()['status'], flow.data()['published_version']], ['draft', null])
      }
    }
  })
})
