import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { anyGraph, anyVisitor, aVisitor, forked, parted, straight } from '../../../tests/support/graphs.ts'
import type { FlowNode } from './api.ts'
import type { FlowVisitor } from './conditions.ts'
import { problemsOf } from './validate.ts'
import { compileFlow, walk } from './walk.ts'

const FLOW = '01890a5d-ac96-774b-bcce-b302099a8057'

const answer = (condition: Partial<FlowNode>, visitor: Partial<FlowVisitor>): boolean =>
  walk(compileFlow(FLOW, forked(condition)), aVisitor(visitor)).end?.id === 'a'

test('every graph that may be published ends for every visitor, always in the same way', () => {
  fc.assert(
    fc.property(anyGraph, anyVisitor, (graph, visitor) => {
      assert.deepEqual(problemsOf(graph), [])
      const way = walk(compileFlow(FLOW, graph), visitor)
      const last = way.stops.at(-1)?.node
      assert.ok(last !== undefined && last === (way.end ?? way.landing), 'the path ends where it leads')
      assert.equal(new Set(way.stops).size, way.stops.length, 'no node is passed twice')
      const again = walk(compileFlow(FLOW, structuredClone(graph)), { ...visitor })
      assert.deepEqual(
        again.stops.map(({ node }) => node.id),
        way.stops.map(({ node }) => node.id),
      )
    }),
    { seed: 7, numRuns: 500 },
  )
})

test('a draft with circles and loose ends is walked to an end as well', () => {
  const graph = straight()
  graph.nodes.push({ id: 'c', type: 'split' })
  graph.edges = [
    { from: 'entry', to: 'c' },
    { from: 'c', to: 'c', weight: 1 },
    { from: 'c', to: 'gone', weight: 1 },
  ]
  for (let at = 0; at < 50; at += 1)
    assert.equal(walk(compileFlow(FLOW, graph), aVisitor({ seed: String(at) })).end, undefined)
  assert.deepEqual(walk(compileFlow(FLOW, { nodes: [], edges: [] }), aVisitor()).stops, [])
})

test('a split parts visitors by its weights, and each of them the same way at every visit', () => {
  const weights = [70, 25, 5, 0]
  const flow = compileFlow(FLOW, parted(...weights))
  const ways = Array.from({ length: 20_000 }, (_, at) => walk(flow, aVisitor({ seed: `visitor-${at}` })).end?.id)
  const counts = weights.map((_, at) => ways.filter(id => id === `end${at}`).length)
  // The seeds are fixed, so this is one experiment with one result; it lies within four standard deviations of the shares.
  for (const [at, weight] of weights.entries()) {
    const expected = (weight / 100) * 20_000
    const allowed = 4 * Math.sqrt(expected * (1 - weight / 100))
    assert.ok(Math.abs((counts[at] ?? 0) - expected) <= allowed, `${counts.join(', ')} for ${weights.join(', ')}`)
  }
  assert.equal(walk(flow, aVisitor({ seed: 'visitor-1' })).end?.id, ways[1])
})

test('two splits part the same visitors independently', () => {
  const [one, two] = [compileFlow(FLOW, parted(1, 1)), compileFlow(FLOW.replace('0189', '0190'), parted(1, 1))]
  const same = Array.from({ length: 10_000 }, (_, at) => aVisitor({ seed: `v${at}` })).filter(
    visitor => walk(one, visitor).end?.id === walk(two, visitor).end?.id,
  )
  assert.ok(same.length > 4800 && same.length < 5200, String(same.length))
})

test('conditions on names compare without case, whole or in part', () => {
  assert.ok(answer({ field: 'geo', values: ['de', 'AT'] }, { geo: 'DE' }))
  assert.ok(!answer({ field: 'geo', values: ['DE'] }, { geo: null }))
  assert.ok(answer({ field: 'browser', match: 'contains', values: ['chrome'] }, { browser: 'Mobile Chrome' }))
  assert.ok(!answer({ field: 'browser', values: ['chrome'] }, { browser: 'Mobile Chrome' }))
  assert.ok(answer({ field: 'sub3', match: 'starts_with', values: ['Summer'] }, { sub3: 'summer-2026' }))
  assert.ok(answer({ field: 'sub9', match: 'is_set' }, { sub9: 'x' }))
  assert.ok(!answer({ field: 'sub9', match: 'is_set' }, {}))
  assert.ok(answer({ field: 'device', values: ['mobile', 'tablet'] }, { device: 'tablet' }))
  assert.ok(answer({ field: 'uniqueness' }, { is_new: true }))
  assert.ok(!answer({ field: 'uniqueness' }, { is_new: false }))
  assert.ok(answer({ field: 'bot' }, { is_bot: true }))
})

test('a language takes its countries, a country only itself', () => {
  assert.ok(answer({ field: 'language', values: ['pt'] }, { language: 'pt-BR' }))
  assert.ok(answer({ field: 'language', values: ['pt-br'] }, { language: 'pt-BR' }))
  assert.ok(!answer({ field: 'language', values: ['pt-BR'] }, { language: 'pt' }))
  assert.ok(!answer({ field: 'language', values: ['p'] }, { language: 'pt' }))
})

test('times are asked in their zone, over midnight too', () => {
  const at = (iso: string) => ({ ms: Date.parse(iso) })
  const evening: Partial<FlowNode> = { field: 'time', from_time: '18:00', to_time: '23:30', time_zone: 'Europe/Berlin' }
  assert.ok(answer(evening, at('2026-07-01T16:00:00Z')))
  assert.ok(!answer(evening, at('2026-07-01T15:59:59Z')))
  assert.ok(!answer(evening, at('2026-07-01T21:30:00Z')))
  assert.ok(!answer(evening, at('2026-01-01T16:00:00Z')), 'winter')
  const night: Partial<FlowNode> = { field: 'time', from_time: '22:00', to_time: '02:00', days: ['sat'] }
  assert.ok(answer(night, at('2026-11-21T23:00:00Z')))
  assert.ok(answer(night, at('2026-11-21T01:59:00Z')))
  assert.ok(!answer(night, at('2026-11-22T01:00:00Z')))
  assert.ok(answer({ field: 'time', days: ['sun'], time_zone: 'Pacific/Auckland' }, at('2026-11-21T12:00:00Z')))
})
