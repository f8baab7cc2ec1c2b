/** Builds the OpenAPI 3.1 document from the endpoints, so that it always matches what the gate enforces. */
import { type Endpoint, rightOf, routeOf } from '../contract/endpoint.ts'
import { historyKindOf } from '../contract/history.ts'
import { RIGHTS } from '../contract/rights.ts'
import type { Declared } from '../ground/room.ts'
import { IDEMPOTENCY_KEY_LENGTH } from './once.ts'
import { HEADERS, responses } from './openapi-answers.ts'
import { type OpenApiObject, schemaOf } from './openapi-schemas.ts'

/** The document for these endpoints; `version` is the project's. It yields after each endpoint, so that visitors are not kept waiting. */
export async function openApi(furnished: readonly Declared[], version: string): Promise<OpenApiObject> {
  const schemas: OpenApiObject = {}
  const paths: Record<string, OpenApiObject> = {}
  for (const { name, endpoint } of furnished.flatMap(partsOf)) {
    const { method, path } = routeOf(endpoint)
    const template = path.replaceAll(/:(\w+)/g, '{$1}')
    paths[template] = { ...paths[template], [method.toLowerCase()]: operation(name, endpoint, path, schemas) }
    await new Promise(setImmediate)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version,
      description: ABOUT,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    paths,
    components: {
      schemas: { ...schemas, Refusal: REFUSAL },
      headers: HEADERS,
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'A key created in Settings, API keys.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'sluice.session_token',
          description:
            "Set by signing in. If BASE_URL is https, its name is `__Host-sluice.session_token`. Requests other than GET also need the dashboard's Origin.",
        },
      },
    },
  }
}

const ABOUT = [
  'Ad-click tracker and conversion-reporting service.',
  'Refusals answer `{ error, code?, hint? }`. Programs should decide by status and `code`; `error` and `hint` are for people.',
  'Bodies are JSON, whatever the Content-Type says. Unknown fields and unknown query parameters are ignored; new fields may appear in answers at any time.',
  'Calls by key and all conversions are counted per organization and minute. Counted answers carry `X-RateLimit-*`.',
].join('\n\n')

/** The routes behind a wildcard endpoint; any other endpoint by itself. */
function partsOf({ name, endpoint }: Declared): Declared[] {
  return endpoint.parts === undefined
    ? [{ name, endpoint }]
    : Object.entries(endpoint.parts).map(([part, declared]) => ({
        name: part,
        endpoint: { ...declared, ...(endpoint.history === undefined ? {} : { history: endpoint.history }) },
      }))
}

const REFUSAL = {
  type: 'object',
  required: ['error'],
  properties: { error: { type: 'string' }, code: { type: 'string' }, hint: { type: 'string' } },
}

function operation(name: string, endpoint: Endpoint, path: string, schemas: OpenApiObject): OpenApiObject {
  const parameters = [...pathParameters(path), ...queryParameters(endpoint, schemas), ...headerParameters(endpoint)]
  return {
    operationId: name,
    summary: endpoint.summary,
    description: [endpoint.description, accessInWords(endpoint)].filter(Boolean).join('\n\n'),
    tags: [path.split('/').find(part => part !== '' && part !== 'api' && part !== 'v1') ?? 'sluice'],
    ...(endpoint.access === 'anyone' ? {} : { security: security(endpoint) }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(endpoint.body
      ? {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: schemaOf(endpoint.body, schemas) } },
          },
        }
      : {}),
    ...(endpoint.takesFile
      ? { requestBody: { required: true, content: { [endpoint.takesFile]: { schema: { type: 'string' } } } } }
      : {}),
    responses: responses(endpoint, schemas),
    ...historyOf(endpoint),
  }
}

/** What the history records of a write: the kind of object, or why nothing. */
function historyOf(endpoint: Endpoint): OpenApiObject {
  if (endpoint.route.startsWith('GET ')) return {}
  const kind = historyKindOf(endpoint.history)
  const none = endpoint.reads ? 'it only reads' : (endpoint.history as { none?: string } | undefined)?.none
  return { 'x-history': kind ?? { none } }
}

function security({ access }: Endpoint): OpenApiObject[] {
  if (access === 'anyone') return []
  if (access.session === undefined) return [{ key: [] }]
  return 'key' in access && access.key !== undefined ? [{ key: [] }, { session: [] }] : [{ session: [] }]
}

function accessInWords({ access }: Endpoint): string {
  if (access === 'anyone') return 'Open to anyone.'
  const right = rightOf(access)
  if (access.session === undefined && right === undefined) return 'Needs any accepted key. Cookies are not accepted.'
  if (right === undefined)
    return `Dashboard session only (${access.session}). A key is refused 403 \`api_key_resource_forbidden\`.`
  const key = `a key with the ${RIGHTS[right].tier} right \`${right}\``
  return access.session === undefined
    ? `Needs ${key}. Cookies are not accepted.`
    : `Needs ${key}, or a dashboard session (${access.session}).`
}

function pathParameters(path: string): OpenApiObject[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
}

function queryParameters(endpoint: Endpoint, schemas: OpenApiObject): OpenApiObject[] {
  if (endpoint.query === undefined) return []
  const { properties = {}, required = [] } = schemaOf(endpoint.query, schemas) as {
    properties?: OpenApiObject
    required?: string[]
  }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
}

function headerParameters({ once, repeatable }: Endpoint): OpenApiObject[] {
  if (!once && !repeatable) return []
  const schema = { type: 'string', minLength: 1, maxLength: IDEMPOTENCY_KEY_LENGTH }
  const description = repeatable
    ? 'For API keys: the same request with the same value within a day answers the object that was created first, and creates no other.'
    : 'Used as the nonce if the body has none. While a request with this key is in flight, another one is refused with 409. After 55 seconds the answer is 504.'
  return [{ name: 'Idempotency-Key', in: 'header', required: false, description, schema }]
}
