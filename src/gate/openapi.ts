/** The OpenAPI 3.1 document, made from the endpoints: what the gate enforces is what the page says. */
import { type Endpoint, rightOf, routeOf } from '../contract/endpoint.ts'
import { RIGHTS } from '../contract/rights.ts'
import type { Declared } from '../ground/room.ts'
import { IDEMPOTENCY_KEY_LENGTH } from './once.ts'
import { HEADERS, responses } from './openapi-answers.ts'
import { type Json, schemaOf } from './openapi-schemas.ts'

/** The whole document for these endpoints; `version` is the project's. Made an endpoint at a time, because visitors are redirected meanwhile. */
export async function openApi(furnished: readonly Declared[], version: string): Promise<Json> {
  const schemas: Json = {}
  const paths: Record<string, Json> = {}
  for (const { name, endpoint } of furnished.flatMap(partsOf)) {
    const { method, path } = routeOf(endpoint)
    const place = path.replaceAll(/:(\w+)/g, '{$1}')
    paths[place] = { ...paths[place], [method.toLowerCase()]: operation(name, endpoint, path, schemas) }
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
        key: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'A key made in Settings, API keys.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'sluice.session_token',
          description:
            "Set by signing in; where BASE_URL is https its name is `__Host-sluice.session_token`. What is no GET also needs the dashboard's Origin.",
        },
      },
    },
  }
}

const ABOUT = [
  'Ad-click tracker and conversion-reporting service.',
  'Refusals answer `{ error, code?, hint? }`: decide by status and `code`, the sentences are for people.',
  'Bodies are JSON, whatever the Content-Type says. Unknown fields and unknown query parameters are ignored; new fields may appear in answers at any time.',
  'What a key calls, and every conversion, is counted per organization and minute: from then on answers carry `X-RateLimit-*`.',
].join('\n\n')

/** A wildcard by the routes it stands for, anything else as it is. */
function partsOf({ name, endpoint }: Declared): Declared[] {
  return endpoint.parts === undefined
    ? [{ name, endpoint }]
    : Object.entries(endpoint.parts).map(([part, declared]) => ({ name: part, endpoint: declared }))
}

const REFUSAL = {
  type: 'object',
  required: ['error'],
  properties: { error: { type: 'string' }, code: { type: 'string' }, hint: { type: 'string' } },
}

function operation(name: string, endpoint: Endpoint, path: string, schemas: Json): Json {
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
    responses: responses(endpoint, schemas),
  }
}

function security({ access }: Endpoint): Json[] {
  if (access === 'anyone') return []
  if (access.session === undefined) return [{ key: [] }]
  return 'key' in access && access.key !== undefined ? [{ key: [] }, { session: [] }] : [{ session: [] }]
}

function accessInWords({ access }: Endpoint): string {
  if (access === 'anyone') return 'Open to anyone.'
  const right = rightOf(access)
  if (access.session === undefined && right === undefined)
    return 'Needs any key that is accepted; cookies are not accepted.'
  if (right === undefined)
    return `Dashboard session only (${access.session}). A key is refused 403 \`api_key_resource_forbidden\`.`
  const key = `a key with the ${RIGHTS[right].tier} right \`${right}\``
  return access.session === undefined
    ? `Needs ${key}; cookies are not accepted.`
    : `Needs ${key}, or a dashboard session (${access.session}).`
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
}

function queryParameters(endpoint: Endpoint, schemas: Json): Json[] {
  if (endpoint.query === undefined) return []
  const { properties = {}, required = [] } = schemaOf(endpoint.query, schemas) as {
    properties?: Json
    required?: string[]
  }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
}

function headerParameters({ once }: Endpoint): Json[] {
  if (!once) return []
  const schema = { type: 'string', minLength: 1, maxLength: IDEMPOTENCY_KEY_LENGTH }
  const description =
    'Stands in for a missing nonce. While a request with it is in flight another one is refused 409; after 55 seconds the answer is 504.'
  return [{ name: 'Idempotency-Key', in: 'header', required: false, description, schema }]
}
