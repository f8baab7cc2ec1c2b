import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { FlowEdge, FlowNode } from '../contract/flow-graph.ts'
import { RIGHTS } from '../contract/rights.ts'
import { derivedFields, type Json } from './derive.ts'
import type { Tool } from './tool.ts'
import { TOOLS } from './tools/all.ts'
import { LEFT_OUT } from './tools/click-flows.ts'

const GOLDEN = join(import.meta.dirname, 'tools.golden.txt')
const DOCS = join(import.meta.dirname, '../../docs/mcp.md')
const MOST_BYTES = 24 * 1024

/** The table of the interface in its order: tier, tool, slug. */
const INTERFACE: Record<string, readonly (readonly [tool: string, slug: string])[]> = {
  read: [
    ['list_clicks', 'clicks'],
    ['get_report', 'report'],
  ],
  write: [
    ['report_conversion', 'events'],
    ['create_campaign', 'campaigns'],
    ['create_offer', 'offers'],
    ['set_offer_status', 'offers:status'],
    ['create_landing', 'landings'],
    ['set_landing_status', 'landings:status'],
    ['create_funnel', 'funnels'],
    ['create_click_flow', 'click-flows'],
    ['set_click_flow_status', 'click-flows:status'],
  ],
  delete: [
    ['update_campaign', 'campaigns:update'],
    ['delete_campaign', 'campaigns:delete'],
    ['update_offer', 'offers:update'],
    ['delete_offer', 'offers:delete'],
    ['update_landing', 'landings:update'],
    ['delete_landing', 'landings:delete'],
    ['update_funnel', 'funnels:update'],
    ['delete_funnel', 'funnels:delete'],
    ['delete_click_flow', 'click-flows:delete'],
    ['publish_click_flow', 'click-flows:publish'],
    ['create_postback', 'postbacks'],
    ['update_postback', 'postbacks:update'],
    ['delete_postback', 'postbacks:delete'],
    ['record_ad_spend', 'ad-spend'],
  ],
}

const shown = TOOLS.map(tool => tool.shown)

test('the tools are the 25 of the interface, in its order, each with its right and tier', () => {
  const expected = Object.entries(INTERFACE).flatMap(([tier, tools]) =>
    tools.map(([name, slug]) => `${tier} service_${name} ${slug}`),
  )
  assert.deepEqual(
    TOOLS.map(({ shown, right }) => `${RIGHTS[right].tier} ${shown.name} ${right}`),
    expected,
  )
})

test('the list changes only together with tools.golden.txt', () => {
  const list = `${JSON.stringify(shown, null, 2)}\n`
  if (process.env['UPDATE_GOLDEN']) writeFileSync(GOLDEN, list)
  assert.equal(list, readFileSync(GOLDEN, 'utf8'), 'run with UPDATE_GOLDEN=1 when the change is meant')
})

test("the whole list stays small enough for a model's context", () => {
  const bytes = Buffer.byteLength(JSON.stringify({ tools: shown }))
  assert.ok(bytes < MOST_BYTES, `${bytes} bytes`)
})

test('each tool gives all four hints, and exactly the 16 of the interface are destructive', () => {
  const names = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']
  for (const { name, annotations } of shown) {
    assert.deepEqual(Object.keys(annotations).sort(), names.toSorted(), name)
    for (const hint of Object.values(annotations)) assert.equal(typeof hint, 'boolean', name)
  }
  const destructive = shown.filter(({ annotations }) => annotations.destructiveHint).map(({ name }) => name)
  const final = INTERFACE['delete']?.map(([name]) => `service_${name}`) ?? []
  assert.deepEqual(
    destructive.toSorted(),
    [...final, 'service_report_conversion', 'service_set_click_flow_status'].sort(),
  )
  const reading = shown.filter(({ annotations }) => annotations.readOnlyHint).map(({ name }) => name)
  assert.deepEqual(reading, ['service_list_clicks', 'service_get_report'])
})

test('irreversible effects come first in a description', () => {
  for (const { shown } of TOOLS.filter(({ shown }) => shown.annotations.destructiveHint))
    assert.match(shown.description, /^[A-Z ,:]{8,}/, shown.name)
})

/** Arguments whose names say what they are. */
const SELF_EXPLAINED = ['name', 'status', 'dimension', 'limit', 'dry_run', 'confirmation', 'idempotency_key']

test('schemas are flat, described, closed, and free of keywords that hosts do not support', () => {
  for (const { name, inputSchema } of shown) {
    assert.equal(inputSchema.type, 'object')
    assert.equal(inputSchema['additionalProperties'], false, name)
    for (const banned of ['anyOf', 'oneOf', 'allOf', '$ref', 'pattern', 'not', 'const'])
      assert.ok(!JSON.stringify(inputSchema).includes(`"${banned}"`), `${name} has ${banned}`)
    for (const [argument, schema] of Object.entries(inputSchema.properties)) {
      assert.equal(typeof schema['type'], 'string', `${name} ${argument}`)
      if (SELF_EXPLAINED.includes(argument)) continue
      const words = schema['description']
      assert.ok(typeof words === 'string' && words.length > 10, `${name} does not say what ${argument} is`)
    }
    for (const required of (inputSchema['required'] ?? []) as string[]) assert.ok(required in inputSchema.properties)
  }
})

/** The fields of tools that differ from the route's schema, and why. */
const SAID_OTHERWISE: Record<string, string> = {
  'service_list_clicks.limit': 'the route takes any text and clamps it; the tool shows the bounds',
  'service_create_offer.payout_types': 'the list of event types is in service_report_conversion',
  'service_update_offer.payout_types': 'likewise',
  'service_create_postback.event_type': 'likewise',
  'service_update_postback.event_type': 'likewise',
  'service_update_campaign.cost': 'without the currency, of which there is one',
  'service_report_conversion.payload': 'free-form: the three keys that are read are shown',
  'service_create_click_flow.graph': 'nodes are said in fewer words',
  'service_set_click_flow_status.status': 'no key sets a flow active',
}

test('every field of a route is an argument of its tool with the same kind, choice and bounds, or left out for a reason', () => {
  const unused = new Set(Object.keys(SAID_OTHERWISE))
  for (const tool of TOOLS) {
    const { properties, required } = derivedFields(tool.endpoint)
    const { name, inputSchema } = tool.shown
    const known = [...Object.keys(properties).filter(field => !(field in tool.leftOut)), ...tool.own]
    assert.deepEqual(Object.keys(inputSchema.properties).toSorted(), known.toSorted(), name)
    for (const field of Object.keys(tool.leftOut)) assert.ok(field in properties, `${name} leaves out ${field}`)
    for (const [field, schema] of Object.entries(properties)) {
      if (field in tool.leftOut || unused.delete(`${name}.${field}`)) continue
      assert.deepEqual(withoutWords(inputSchema.properties[field]), withoutWords(schema), `${name}.${field}`)
    }
    const asked = (inputSchema['required'] ?? []) as string[]
    assert.deepEqual(
      asked.filter(field => !tool.own.includes(field)),
      required.filter(field => !(field in tool.leftOut)),
      name,
    )
  }
  assert.deepEqual([...unused], [])
})

const withoutWords = ({ description: _, ...rest }: Json = {}): Json => rest

test('an id names only a row: no text changes the path of the request', () => {
  const ids = ['..', '.', '../offers', 'a/b', '%2e%2e', 'x?y=1', '#', ' ', 'é', '-'.repeat(65), '\u0000']
  for (const tool of TOOLS.filter(({ endpoint }) => endpoint.route.includes('/:id')))
    for (const id of ids) {
      const path = tool.endpoint.route.replace(/^\w+ /, '').replace(':id', '-')
      assert.equal(tool.requestFor({ [idOf(tool)]: id }).url, path)
    }
})

const idOf = ({ own }: Tool): string => own[0] ?? assert.fail('no id')

const toolNamed = (name: string): Tool =>
  TOOLS.find(tool => tool.shown.name === `service_${name}`) ?? assert.fail(`no ${name}`)

test('null means not given, in every tool and for every argument', () => {
  for (const tool of TOOLS) {
    const nulls = Object.fromEntries(Object.keys(tool.shown.inputSchema.properties).map(name => [name, null]))
    assert.deepEqual(tool.requestFor(nulls), tool.requestFor({}), tool.shown.name)
  }
})

test('a change empties a field only if clear names it', () => {
  const filled = { name: 'New', offer_id: '', fallback_url: null, source: {}, redirect_url: '', clear: [] }
  assert.deepEqual(toolNamed('update_campaign').requestFor({ campaign_id: 'x', ...filled }).body, { name: 'New' })
  const cleared = toolNamed('update_campaign').requestFor({ campaign_id: 'x', clear: ['offer_id', 'source'] })
  assert.deepEqual([cleared.body, cleared.objection], [{ offer_id: null, source: null }, undefined])
  const { body } = toolNamed('update_funnel').requestFor({ funnel_id: 'x', offers: [], clear: ['landings'] })
  assert.deepEqual(body, { landings: [] })
  assert.deepEqual(toolNamed('update_postback').requestFor({ postback_id: 'x', campaign_id: null }).body, {})
  for (const [args, words] of [
    [{ clear: ['name'] }, /arguments\/clear: each must be one of offer_id, /],
    [{ clear: 'offer_id' }, /arguments\/clear: must be a list/],
    [{ clear: ['offer_id'], offer_id: 'x' }, /arguments\/offer_id: is both given and in clear/],
  ] as const)
    assert.match(
      toolNamed('update_campaign').requestFor({ campaign_id: 'x', ...(args as Json) }).objection?.error ?? '',
      words,
    )
})

test('in a creation or replacement an empty text means no value', () => {
  const { body } = toolNamed('update_offer').requestFor({ offer_id: 'x', name: '', url: 'u', payout: '' })
  assert.deepEqual(body, { name: '', url: 'u', payout: null })
})

test('JSON as text is read for objects, lists, numbers and booleans, and nowhere else', () => {
  const graph = { nodes: [{ id: 'in', type: 'entry', label: '{}' }], edges: [{ from: 'in', to: 'x', weight: 7 }] }
  const sent = { nodes: JSON.stringify(graph.nodes), edges: [JSON.stringify({ ...graph.edges[0], weight: ' 7 ' })] }
  for (const text of [JSON.stringify(graph), JSON.stringify(sent), sent]) {
    const { body, objection } = toolNamed('create_click_flow').requestFor({ name: '[1]', graph: text as Json })
    assert.deepEqual([body, objection], [{ name: '[1]', graph }, undefined])
  }
  const campaign = {
    name: 'A',
    redirect_url: 'https://a.example/',
    source: '{"ref_id":"clickid"}',
    strict_filter: 'True',
  }
  assert.deepEqual(toolNamed('create_campaign').requestFor(campaign).body, {
    name: 'A',
    destination: { type: 'redirect', url: 'https://a.example/' },
    source: { ref_id: 'clickid' },
    strict_filter: true,
  })
  const { body } = toolNamed('report_conversion').requestFor({ payload: '{"a":null}', nonce: '7' })
  assert.deepEqual(body, { payload: { a: null }, nonce: '7' })
  for (const text of ['{"a":', '{"__proto__":1}', `{"a":"\\u0000"}`, '['.repeat(40)])
    assert.match(
      toolNamed('create_click_flow').requestFor({ name: 'F', graph: text }).objection?.error ?? '',
      /^arguments\/graph: is text that is not valid JSON/,
    )
})

test('nested objects are closed: an unknown field is refused by name, with the known ones', () => {
  const node = { id: 'c', type: 'condition', field: 'geo', values: ['US'], operator: 'is_not', x: null, gone: null }
  const { objection } = toolNamed('create_click_flow').requestFor({
    name: 'F',
    graph: { nodes: [{ id: 'in', type: 'entry' }, node], edges: [{ from: 'in', to: 'c', Branch: 'no' }] },
    grpah: {},
  })
  assert.deepEqual(objection?.error?.split('; '), [
    'arguments/graph/nodes/1: has no field "operator"',
    'arguments/graph/edges/0: has no field "Branch", but there is branch',
    'arguments/grpah: service_create_click_flow has no such argument',
  ])
  assert.match(
    objection?.hint ?? '',
    /graph\/nodes\/\* takes id, type, label, field, match, .*graph\/edges\/\* takes from, to, branch, weight\./,
  )
  const member = { offer_id: 'x', weight: 1, share: 70 }
  for (const name of ['create_funnel', 'update_funnel'])
    assert.match(
      toolNamed(name).requestFor({ funnel_id: 'x', offers: [member] }).objection?.error ?? '',
      /arguments\/offers\/0: has no field "share"/,
    )
})

test("a node and an edge of the tool have the route's fields except those left out", () => {
  const { graph = assert.fail('no graph') } = toolNamed('create_click_flow').shown.inputSchema.properties
  const { nodes, edges } = graph['properties'] as Record<'nodes' | 'edges', { items: { properties: Json } }>
  const leftOut: readonly string[] = LEFT_OUT.fields
  const known = Object.keys(FlowNode.shape)
  assert.deepEqual(
    leftOut.filter(field => !known.includes(field)),
    [],
  )
  assert.deepEqual(Object.keys(nodes.items.properties).sort(), known.filter(field => !leftOut.includes(field)).sort())
  assert.deepEqual(Object.keys(edges.items.properties).sort(), Object.keys(FlowEdge.shape).sort())
})

test('docs/mcp.md lists the tools correctly', () => {
  const rows = TOOLS.map(({ shown, right, endpoint }) => {
    const mark = shown.annotations.destructiveHint ? 'yes' : ''
    return `| ${RIGHTS[right].tier} | \`${shown.name}\` | \`${right}\` | \`${endpoint.route}\` | ${mark} |`
  })
  const table = ['| Tier | Tool | Right | Route | Destructive |', '|---|---|---|---|---|', ...rows].join('\n')
  const page = readFileSync(DOCS, 'utf8')
  const [before = '', , after = ''] = page.split(/(\| Tier \|[^]*?\n)\n/)
  if (process.env['UPDATE_GOLDEN']) writeFileSync(DOCS, `${before}${table}\n\n${after}`)
  assert.ok(readFileSync(DOCS, 'utf8').includes(table), 'run with UPDATE_GOLDEN=1 when the change is meant')
})
