// Compares the OpenAPI document with the declarations: nothing is missing, and every reference exists.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Endpoint, routeOf } from '../src/contract/endpoint.ts'
import { REFUSALS } from '../src/contract/refusal-catalogue.ts'
import { useHouse, type TestHouse } from './support/house.ts'

type Json = Record<string, unknown>
type Operation = {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security?: Record<string, unknown[]>[]
  parameters?: { name: string; in: string; required: boolean; schema: Json }[]
  requestBody?: { required: boolean; content: Record<string, { schema: Json }> }
  responses: Record<string, { description: string; headers?: Json; content?: Record<string, { schema: Json }> }>
}
type Document = { openapi: string; paths: Record<string, Record<string, Operation>>; components: Record<string, Json> }

let house: TestHouse
let document: Document
/** The endpoints, with the routes of a wildcard instead of the wildcard. */
let declared: { endpoint: Endpoint }[]
before(async () => {
  house = await useHouse()
  declared = house.furnished.flatMap(({ endpoint }) =>
    Object.values(endpoint.parts ?? { endpoint }).map(one => ({ endpoint: one })),
  )
  document = (await house.call('GET', '/api/openapi.json')).json<Document>()
})
after(() => house.end())

const placeOf = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}')

function operationOf(endpoint: Endpoint): Operation {
  const { method, path } = routeOf(endpoint)
  return document.paths[placeOf(path)]?.[method.toLowerCase()] ?? assert.fail(`${endpoint.route} is not described`)
}

/** Every object in a value, the value itself first. */
function* partsOf(value: unknown): Generator<Json> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield value as Json
  for (const inner of Object.values(value)) yield* partsOf(inner)
}

test('every route is described once, with a name and a summary, and no other is', () => {
  assert.equal(document.openapi, '3.1.0')
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
  )
  assert.deepEqual(described.toSorted(), declared.map(({ endpoint }) => placeOf(endpoint.route)).toSorted())
  const ids = declared.map(({ endpoint }) => operationOf(endpoint).operationId)
  assert.equal(new Set(ids).size, ids.length)
  for (const { endpoint } of declared) {
    const { summary, description, tags } = operationOf(endpoint)
    assert.ok(summary.length > 4 && description.length > 4 && tags.length === 1, endpoint.route)
  }
})

test('access is described as declared', () => {
  for (const { endpoint } of declared) {
    const { access } = endpoint
    const kinds = operationOf(endpoint).security?.map(kind => Object.keys(kind).join())
    const expected =
      access === 'anyone'
        ? undefined
        : [...('key' in access && access.key ? ['key'] : []), ...(access.session === undefined ? [] : ['session'])]
    assert.deepEqual(kinds, expected, endpoint.route)
    for (const kind of kinds ?? []) assert.ok(kind in (document.components['securitySchemes'] ?? {}))
  }
})

test('parameters and bodies are those that the gate reads', () => {
  for (const { endpoint } of declared) {
    const { parameters = [], requestBody } = operationOf(endpoint)
    const inPath = [...endpoint.route.matchAll(/:(\w+)/g)].map(([, name]) => name)
    const named = parameters.filter(parameter => parameter.in === 'path')
    assert.deepEqual(
      named.map(({ name }) => name),
      inPath,
    )
    assert.ok(named.every(({ required }) => required))
    const asked = parameters.filter(parameter => parameter.in === 'query')
    assert.equal(asked.length > 0, endpoint.query !== undefined, endpoint.route)
    const type = endpoint.takesFile ?? (endpoint.body === undefined ? undefined : 'application/json')
    assert.equal(requestBody !== undefined, type !== undefined, endpoint.route)
    if (requestBody !== undefined) assert.ok(requestBody.content[type ?? '']?.schema, endpoint.route)
  }
})

test('intake describes the header that replaces a nonce, and shows no code if the answer has none', () => {
  const { parameters = [], responses } = document.paths['/api/events']?.['post'] ?? assert.fail()
  assert.deepEqual(
    parameters.map(({ in: place, name, required }) => [place, name, required]),
    [['header', 'Idempotency-Key', false]],
  )
  for (const [status, code] of [
    ['401', 'unauthorized'],
    ['429', 'rate_limited'],
  ] as const) {
    assert.ok(!responses[status]?.description.includes(`\`${code}\``), status)
    const ofReads = document.paths['/api/v1/clicks']?.['get']?.responses[status]
    assert.ok(ofReads?.description.includes(`\`${code}\``), status)
  }
  assert.match(responses['429']?.description ?? '', /rate limit exceeded/)
})

test('answers are described: success, and every declared refusal, under its status', () => {
  for (const { endpoint } of declared) {
    const { responses } = operationOf(endpoint)
    const good = endpoint.status ?? (endpoint.reply === undefined ? Object.keys(endpoint.answers ?? {})[0] : 200)
    const done = responses[String(good)] ?? assert.fail(`${endpoint.route} does not say its answer`)
    if (endpoint.visit !== true) assert.ok(done.content !== undefined, endpoint.route)
    for (const name of endpoint.refuses ?? []) {
      const { status, error } = REFUSALS[name]
      assert.ok(responses[String(status)]?.description.includes(error), `${endpoint.route} hides ${name}`)
    }
    if (endpoint.access === 'anyone' || endpoint.answers !== undefined || endpoint.visit) continue
    assert.ok('401' in responses && '403' in responses && '500' in responses, endpoint.route)
    if (endpoint.body !== undefined) assert.ok('400' in responses && '413' in responses, endpoint.route)
    if ('key' in endpoint.access && endpoint.access.key) assert.ok('429' in responses, endpoint.route)
    if ('key' in endpoint.access && endpoint.access.session) assert.ok('503' in responses, endpoint.route)
    // Refusals after the quota was counted have the remaining quota too.
    if ('X-RateLimit-Remaining' in (done.headers ?? {}))
      for (const status of endpoint.once ? ['500', '504'] : ['500'])
        assert.ok('X-RateLimit-Remaining' in (responses[status]?.headers ?? {}), `${endpoint.route} ${status}`)
  }
})

test('a schema that several routes answer with has a name, so that generated clients have one type for it', () => {
  const formOf = (endpoint: Endpoint): Json => {
    const { responses } = operationOf(endpoint)
    const schema = responses[String(endpoint.status ?? 200)]?.content?.['application/json']?.schema ?? {}
    const page = schema as { properties?: { data?: { items?: Json } } }
    return page.properties?.data?.items ?? schema
  }
  const unnamed = declared.filter(({ endpoint }) => formOf(endpoint)['type'] === 'object')
  const alike = Map.groupBy(unnamed, ({ endpoint }) => JSON.stringify(formOf(endpoint)))
  const shared = [...alike.values()].filter(routes => routes.length > 1)
  assert.deepEqual(
    shared.map(routes => routes.map(({ endpoint }) => endpoint.route)),
    [],
  )
  assert.ok(Object.keys(document.components['schemas'] ?? {}).length > 40)
})

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'])

test('schemas are valid: references exist, types exist, required properties exist', () => {
  for (const part of partsOf(document)) {
    const { $ref, type, required, properties } = part
    if (typeof $ref === 'string') {
      const [, ...way] = $ref.split('/')
      let found: unknown = document
      for (const step of way) found = (found as Json | undefined)?.[step]
      assert.ok(found !== undefined, $ref)
    }
    if (typeof type === 'string' && !('in' in part)) assert.ok(TYPES.has(type) || type === 'apiKey', type)
    if (Array.isArray(required) && properties !== undefined)
      for (const name of required) assert.ok(String(name) in (properties as Json), `${name} is required and unknown`)
    assert.ok(!Object.values(part).includes(undefined))
  }
})
