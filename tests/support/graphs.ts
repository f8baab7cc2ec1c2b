// Graphs of click flows: fixed ones for tests, and random ones for properties.
import fc from 'fast-check'
import { noParameters } from '../../src/intake/clicks/parameters.ts'
import { CONDITION_FIELDS, DAYS, type FlowEdge, type FlowNode, type Graph } from '../../src/traffic/click-flows/api.ts'
import type { FlowVisitor } from '../../src/traffic/click-flows/conditions.ts'

/** A visitor with only the given values. */
export function aVisitor(known: Partial<FlowVisitor> = {}): FlowVisitor {
  return {
    ...noParameters(),
    geo: null,
    device: null,
    os: null,
    browser: null,
    language: null,
    is_new: true,
    seen_ms: null,
    is_bot: false,
    ms: Date.UTC(2026, 10, 21, 12),
    seed: 'somebody',
    ...known,
  }
}

/** entry → redirect. */
export const straight = (url = 'https://end.example/'): Graph => ({
  nodes: [
    { id: 'entry', type: 'entry' },
    { id: 'end', type: 'redirect', url },
  ],
  edges: [{ from: 'entry', to: 'end' }],
})

/** entry → condition → two redirects, `/yes` and `/no`. */
export const forked = (condition: Partial<FlowNode>): Graph => ({
  nodes: [
    { id: 'entry', type: 'entry' },
    { id: 'ask', type: 'condition', ...condition },
    { id: 'a', type: 'redirect', url: 'https://end.example/yes' },
    { id: 'b', type: 'redirect', url: 'https://end.example/no' },
  ],
  edges: [
    { from: 'entry', to: 'ask' },
    { from: 'ask', to: 'a', branch: 'yes' },
    { from: 'ask', to: 'b', branch: 'no' },
  ],
})

/** entry → split → one redirect for each weight, `/0`, `/1` and so on. */
export const parted = (...weights: number[]): Graph => ({
  nodes: [
    { id: 'entry', type: 'entry' },
    { id: 'part', type: 'split' },
    ...weights.map((_, at): FlowNode => ({ id: `end${at}`, type: 'redirect', url: `https://end.example/${at}` })),
  ],
  edges: [
    { from: 'entry', to: 'part' },
    ...weights.map((weight, at): FlowEdge => ({ from: 'part', to: `end${at}`, weight })),
  ],
})

const UUID = '01890a5d-ac96-774b-bcce-b302099a8057'

const complete = (field: (typeof CONDITION_FIELDS)[number]): Partial<FlowNode> =>
  field === 'time'
    ? { field, days: [...DAYS].slice(0, 3), from_time: '22:00', to_time: '04:00', time_zone: 'Europe/Berlin' }
    : field === 'device'
      ? { field, values: ['mobile'] }
      : { field, ...(field === 'uniqueness' || field === 'bot' ? {} : { values: ['de', 'en'] }) }

/** A step that leads on: its kind, and the later nodes it leads to. */
type Spec = { kind: 'condition' | 'split' | 'landing'; field: number; picks: number[]; weights: number[] }

const spec: fc.Arbitrary<Spec> = fc.record({
  kind: fc.constantFrom('condition', 'split', 'landing'),
  field: fc.nat(CONDITION_FIELDS.length - 1),
  picks: fc.array(fc.nat(), { minLength: 3, maxLength: 3 }),
  weights: fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 3, maxLength: 3 }),
})

/** Graphs that can be published: each node leads only to later nodes, and unreachable ones are left out. */
export const anyGraph: fc.Arbitrary<Graph> = fc.array(spec, { maxLength: 12 }).map(specs => {
  const ends: FlowNode[] = [
    { id: 'to', type: 'redirect', url: 'https://end.example/' },
    { id: 'offer', type: 'offer', offer_id: UUID },
    { id: 'bot', type: 'bot', bot_id: UUID },
  ]
  const steps = specs.map(
    ({ kind, field }, at): FlowNode =>
      kind === 'landing'
        ? { id: `n${at}`, type: kind, landing_id: UUID }
        : { id: `n${at}`, type: kind, ...(kind === 'condition' && complete(CONDITION_FIELDS[field] ?? 'bot')) },
  )
  const all = [...steps, ...ends]
  const edges: FlowEdge[] = [{ from: 'entry', to: all[0]?.id ?? 'to' }]
  for (const [at, { kind, picks, weights }] of specs.entries()) {
    const behind = all.slice(at + 1)
    const targets = picks.flatMap(pick => behind[pick % behind.length]?.id ?? [])
    const from = `n${at}`
    if (kind === 'landing') edges.push({ from, to: 'offer' })
    else if (kind === 'condition')
      edges.push({ from, to: targets[0] ?? 'to', branch: 'yes' }, { from, to: targets[1] ?? 'to', branch: 'no' })
    else {
      const different = [...new Set([...targets, 'to', 'offer'])].slice(0, 3)
      edges.push(...different.map((to, one) => ({ from, to, weight: weights[one] ?? 1 })))
    }
  }
  const reached = new Set(['entry'])
  for (const id of reached) for (const edge of edges) if (edge.from === id) reached.add(edge.to)
  return {
    nodes: [{ id: 'entry', type: 'entry' } as FlowNode, ...all].filter(({ id }) => reached.has(id)),
    edges: edges.filter(({ from }) => reached.has(from)),
  }
})

export const anyVisitor: fc.Arbitrary<FlowVisitor> = fc
  .record({
    geo: fc.option(fc.constantFrom('DE', 'US')),
    device: fc.option(fc.constantFrom('mobile', 'desktop')),
    os: fc.option(fc.string()),
    browser: fc.option(fc.string()),
    language: fc.option(fc.constantFrom('de', 'en-GB', 'x')),
    sub1: fc.option(fc.string()),
    is_new: fc.boolean(),
    is_bot: fc.boolean(),
    ms: fc.integer({ min: 0, max: 4_000_000_000_000 }),
    seed: fc.string(),
  })
  .map(aVisitor)
