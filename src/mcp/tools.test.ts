import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { RIGHTS } from '../contract/rights.ts'
import { derivedFields, type Json, type Tool } from './tool.ts'
import { TOOLS } from './tools/all.ts'

const GOLDEN = join(import.meta.dirname, 'tools.golden.txt')
const DOCS = join(import.meta.dirname, '../../docs/mcp.md')
const MOST_BYTES = 25_000

/** The table of the interface: tier, tool, slug, in its order. */
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

test('the list changes only where a reviewer sees tools.golden.txt change', () => {
  const list = `${JSON.stringify(shown, null, 2)}\n`
  if (process.env['UPDATE_GOLDEN']) writeFileSync(GOLDEN, list)
  assert.equal(list, readFileSync(GOLDEN, 'utf8'), 'run with UPDATE_GOLDEN=1 when the change is meant')
})

test('the whole list stays small enough for a model to carry', () => {
  const bytes = Buffer.byteLength(JSON.stringify({ tools: shown }))
  assert.ok(bytes < MOST_BYTES, `${bytes} bytes`)
})

test('each tool says all four hints, and exactly the 16 of the interface are destructive', () => {
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

test('each description names the right and its tier, and what cannot be taken back comes first', () => {
  for (const { shown, right } of TOOLS) {
    assert.ok(shown.description.endsWith(`Needs the ${RIGHTS[right].tier}-tier right "${right}".`), shown.name)
    if (shown.annotations.destructiveHint) assert.match(shown.description, /^[A-Z ,:]{8,}/, shown.name)
  }
})

test('schemas are flat, described, closed, and free of what hosts stumble over', () => {
  for (const { name, inputSchema } of shown) {
    assert.equal(inputSchema.type, 'object')
    assert.equal(inputSchema['additionalProperties'], false, name)
    for (const banned of ['anyOf', 'oneOf', 'allOf', '$ref', 'pattern', 'not', 'const'])
      assert.ok(!JSON.stringify(inputSchema).includes(`"${banned}"`), `${name} has ${banned}`)
    for (const [argument, schema] of Object.entries(inputSchema.properties)) {
      assert.equal(typeof schema['type'], 'string', `${name} ${argument}`)
      const words = schema['description']
      assert.ok(typeof words === 'string' && words.length > 10, `${name} does not say what ${argument} is`)
    }
    for (const required of (inputSchema['required'] ?? []) as string[]) assert.ok(required in inputSchema.properties)
  }
})

/** Where a tool says more or less of a field than the route's schema can, and why. */
const SAID_OTHERWISE: Record<string, string> = {
  'service_list_clicks.limit': 'the route takes any text and clamps it; the tool shows the bounds',
  'service_report_conversion.payload': 'free-form: the three keys that are read are shown',
  'service_create_offer.payout_types': 'the choice of types is said by service_report_conversion',
  'service_update_offer.payout_types': 'the choice of types is said by service_report_conversion',
  'service_create_postback.event_type': 'the choice of types is said by service_report_conversion',
  'service_update_postback.event_type': 'the choice of types is said by service_report_conversion',
  'service_update_funnel.landings': 'its parts are said by service_create_funnel',
  'service_update_funnel.offers': 'its parts are said by service_create_funnel',
  'service_create_campaign.source': 'ten fields of one kind are shown as a map',
  'service_update_campaign.source': 'ten fields of one kind are shown as a map',
  'service_create_click_flow.graph': 'places and labels are for the canvas; nodes are said in fewer words',
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

test('an id names a row and nothing else: no text bends the path of the request', () => {
  const ids = ['..', '.', '../offers', 'a/b', '%2e%2e', 'x?y=1', '#', ' ', 'é', '-'.repeat(65), '\u0000']
  for (const tool of TOOLS.filter(({ endpoint }) => endpoint.route.includes('/:id')))
    for (const id of ids) {
      const path = tool.endpoint.route.replace(/^\w+ /, '').replace(':id', '-')
      assert.equal(tool.requestFor({ [idOf(tool)]: id }).url, path)
    }
})

const idOf = ({ own }: Tool): string => own[0] ?? assert.fail('no id')

test('an empty text clears what may be empty, and nothing else', () => {
  const update = TOOLS.find(tool => tool.shown.name === 'service_update_campaign') ?? assert.fail()
  const { body } = update.requestFor({ campaign_id: 'x', offer_id: '', fallback_url: null, name: '' })
  assert.deepEqual(body, { offer_id: null, fallback_url: null, name: '' })
})

test('the page about the tools lists them as they are', () => {
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
