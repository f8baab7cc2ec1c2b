import assert from 'node:assert/strict'
import test from 'node:test'
import { forked, parted, straight } from '../../../tests/support/graphs.ts'
import type { FlowEdge, FlowNode, Graph } from './api.ts'
import { problemsOf } from './validate.ts'

const ID = '01890a5d-ac96-774b-bcce-b302099a8057'
const ENTRY: FlowNode = { id: 'entry', type: 'entry' }
const END: FlowNode = { id: 'end', type: 'redirect', url: 'https://end.example/' }

/** The graph's nodes and edges, with more of them. */
const and = ({ nodes, edges }: Graph, more: FlowNode[], over: FlowEdge[]): Graph => ({
  nodes: [...nodes, ...more],
  edges: [...edges, ...over],
})
const ending = (node: Partial<FlowNode>): Graph => ({
  nodes: [ENTRY, { ...END, url: null, ...node }],
  edges: [{ from: 'entry', to: 'end' }],
})

test('what is complete has no problems', () => {
  assert.deepEqual(problemsOf(straight()), [])
  assert.deepEqual(problemsOf(forked({ field: 'geo', values: ['DE'] })), [])
  assert.deepEqual(problemsOf(parted(1, 0)), [])
  assert.deepEqual(problemsOf(ending({ type: 'landing', landing_id: ID })), [])
})

const wrong: [string, Graph, string | null, RegExp][] = [
  ['no entry', { nodes: [END], edges: [] }, null, /no entry. Add/],
  ['two entries', and(straight(), [{ id: 'e2', type: 'entry' }], [{ from: 'e2', to: 'end' }]), 'e2', /has one entry/],
  ['an entry that leads nowhere', { nodes: [ENTRY], edges: [] }, 'entry', /leads nowhere/],
  ['an entry that forks', and(straight(), [{ ...END, id: 'x' }], [{ from: 'entry', to: 'x' }]), 'entry', /leads to 2/],
  [
    'an edge to nothing',
    and(parted(1, 1), [], [{ from: 'part', to: 'gone', weight: 1 }]),
    'part',
    /gone, which is not/,
  ],
  ['an edge from nothing', and(straight(), [], [{ from: 'gone', to: 'end' }]), null, /leaves node gone/],
  ['a node nobody reaches', and(straight(), [{ ...END, id: 'x', label: 'Lost' }], []), 'x', /x \(Lost\): no visitor/],
  ['a condition without a field', forked({}), 'ask', /has no field/],
  ['a condition without values', forked({ field: 'os' }), 'ask', /no values/],
  ['a country that is none', forked({ field: 'geo', values: ['Germany'] }), 'ask', /Germany is not a country code/],
  ['a device that is none', forked({ field: 'device', values: ['phone'] }), 'ask', /phone is not one of desktop/],
  ['a language that is none', forked({ field: 'language', values: ['!'] }), 'ask', /not a language/],
  ['a crawler with a value', forked({ field: 'bot', values: ['false'] }), 'ask', /yes means a crawler, no a person/],
  ['a new visitor with a value', forked({ field: 'uniqueness', values: ['returning'] }), 'ask', /no a returning one/],
  ['a time with a value', forked({ field: 'time', days: ['mon'], values: ['night'] }), 'ask', /takes no values/],
  ['a time without times', forked({ field: 'time' }), 'ask', /neither days nor hours/],
  ['a time that never is', forked({ field: 'time', from_time: '09:00', to_time: '09:00' }), 'ask', /never/],
  ['a zone that is none', forked({ field: 'time', days: ['mon'], time_zone: 'Mars/X' }), 'ask', /Mars\/X is not/],
  ['an offer without one', ending({ type: 'offer' }), 'end', /names no offer/],
  ['a landing without one', ending({ type: 'landing' }), 'end', /names no landing/],
  ['a bot without one', ending({ type: 'bot' }), 'end', /names no bot/],
  ['a Mini App of no bot', ending({ type: 'mini_app' }), 'end', /names no bot/],
  ['a redirect without an address', ending({}), 'end', /no address/],
  ['a redirect to no address', ending({ url: 'ftp://x' }), 'end', /must begin with http/],
  ['a split of one', parted(1), 'part', /splits nothing/],
  ['a split without shares', parted(0, 0), 'part', /all its weights are 0/],
  ['an edge behind an end', and(parted(1, 1), [], [{ from: 'end0', to: 'end1' }]), 'end0', /nothing may follow/],
  [
    'a circle',
    and(
      parted(1, 1),
      [{ id: 's2', type: 'split' }],
      [
        { from: 'part', to: 's2', weight: 1 },
        { from: 's2', to: 'part', weight: 1 },
        { from: 's2', to: 'end0', weight: 1 },
      ],
    ),
    'part',
    /circle, part → s2 → part/,
  ],
  [
    'a second landing on one path',
    {
      nodes: [ENTRY, { id: 'l1', type: 'landing', landing_id: ID }, { id: 'l2', type: 'landing', landing_id: ID }],
      edges: [
        { from: 'entry', to: 'l1' },
        { from: 'l1', to: 'l2' },
      ],
    },
    'l2',
    /landing behind the landing l1/,
  ],
]

for (const [what, graph, node_id, message] of wrong) {
  test(`${what}: named and told what to do`, () => {
    const problems = problemsOf(graph)
    const found = problems.find(problem => problem.node_id === node_id && message.test(problem.message))
    assert.ok(found !== undefined, JSON.stringify(problems))
    if (node_id !== null) assert.ok(found.message.startsWith(`Node ${node_id}`), found.message)
  })
}

test('a missing branch, an edge without a branch and a missing weight are told', () => {
  const fork = forked({ field: 'bot' })
  fork.edges = fork.edges.map(({ from, to }) => ({ from, to }))
  assert.deepEqual(
    problemsOf(fork).map(({ message }) => message.replace(/\..*/, '')),
    [
      'Node ask: its branch "yes" leads nowhere',
      'Node ask: its branch "no" leads nowhere',
      'Node ask: an edge that leaves it belongs to no branch',
    ],
  )
  const split = parted(1, 1)
  split.edges = split.edges.map(({ from, to }) => ({ from, to }))
  assert.match(problemsOf(split)[0]?.message ?? '', /has no weight/)
})

test('everything that is wrong is said at once', () => {
  const graph = forked({ field: 'geo', values: ['Germany'], label: 'Country' })
  graph.nodes[2] = { id: 'a', type: 'offer' }
  graph.nodes.push({ id: 'lost', type: 'bot' })
  graph.edges.pop()
  assert.deepEqual(
    problemsOf(graph).map(({ node_id }) => node_id),
    ['ask', 'ask', 'a', 'lost', 'b', 'lost'],
  )
})

test('a path longer than 32 nodes is refused', () => {
  const long = (steps: number): Graph => {
    const nodes = Array.from(
      { length: steps },
      (_, at): FlowNode => ({ id: `n${at}`, type: 'condition', field: 'bot' }),
    )
    const next = (at: number) => (at < steps ? `n${at}` : 'end')
    return {
      nodes: [ENTRY, ...nodes, END],
      edges: [
        { from: 'entry', to: next(0) },
        ...nodes.flatMap(({ id }, at): FlowEdge[] => [
          { from: id, to: next(at + 1), branch: 'yes' },
          { from: id, to: 'end', branch: 'no' },
        ]),
      ],
    }
  }
  assert.deepEqual(problemsOf(long(30)), [])
  assert.match(problemsOf(long(31))[0]?.message ?? '', /more than 32/)
})
