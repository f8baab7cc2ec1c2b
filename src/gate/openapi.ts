/** The OpenAPI 3.1 document, made from the endpoints: what the gate enforces is what the page says. */
import { z } from 'zod'
import { type Endpoint, rightOf, routeOf } from '../contract/endpoint.ts'
import { type RefusalName, REFUSALS } from '../contract/refusal-catalogue.ts'
import { Refusal, type RefusalBody, refusalBody } from '../contract/refusals.ts'
import { RIGHTS } from '../contract/rights.ts'
import type { Declared } from '../room.ts'
import { isKeyOnly, surfaceOf } from './identify.ts'
import { IDEMPOTENCY_KEY_LENGTH } from './once.ts'

type Json = { [key: string]: unknown }

/** The whole document for these endpoints; `version` is the project's. */
export function openApi(furnished: readonly Declared[], version: string): Json {
  const schemas: Json = {}
  const paths: Record<string, Json> = {}
  for (const { name, endpoint } of furnished) {
    const { method, path } = routeOf(endpoint)
    const place = path.replaceAll(/:(\w+)/g, '{$1}')
    paths[place] = { ...paths[place], [method.toLowerCase()]: operation(name, endpoint, path, schemas) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version,
      description: 'Ad-click tracker and conversion-reporting service. Refusals answer `{ error, code?, hint? }`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    paths,
    components: {
      schemas: { ...schemas, Refusal: REFUSAL },
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        session: { type: 'apiKey', in: 'cookie', name: 'sluice.session_token' },
      },
    },
  }
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

/** What the gate itself can refuse on the way to this endpoint. */
function refusalsOnTheWay(endpoint: Endpoint): RefusalName[] {
  const { access, body, query, once } = endpoint
  const names: RefusalName[] = ['internal_error']
  if (body) names.push('payload_too_large', 'unsupported_encoding', 'invalid_json', 'invalid_request')
  if (access === 'anyone') return names
  if (query && !isKeyOnly(access)) names.push('invalid_request')
  if (!isKeyOnly(access)) names.push('service_unavailable', ...refusalsOfSessions(endpoint))
  if (isKeyOnly(access) || endpoint.route.startsWith('GET ')) names.push('read_timed_out')
  names.push(...refusalsOfKeys(endpoint))
  if (once) names.push('in_flight', 'timed_out')
  return names
}

function refusalsOfSessions({ access, route }: Endpoint): RefusalName[] {
  const names: RefusalName[] = ['sign_in_required']
  if (!route.startsWith('GET ')) names.push('origin_required', 'origin_mismatch')
  if (access === 'anyone' || access.session === 'person') return names
  names.push('no_organization', 'org_deleted')
  if (access.session !== 'member') names.push('role_forbidden')
  return names
}

function refusalsOfKeys({ access }: Endpoint): RefusalName[] {
  const right = rightOf(access)
  if (right === undefined) return ['key_not_accepted', 'api_key_resource_forbidden']
  const names: RefusalName[] = isKeyOnly(access) ? ['api_key_required', 'api_key_scope_unverifiable'] : []
  names.push(
    'key_not_accepted',
    'api_key_grant_unverifiable',
    'api_key_org_not_member',
    'org_deleted',
    'role_forbidden',
  )
  names.push(`api_key_${RIGHTS[right].tier}_not_granted`, 'rate_limited')
  return names
}

function responses(endpoint: Endpoint, schemas: Json): Json {
  const { otherwise } = endpoint
  if (otherwise !== undefined) {
    const said = Object.entries(otherwise).map(([status, words]) => [status, answerOf(endpoint, words, schemas)])
    return { [endpoint.status ?? 200]: answerOf(endpoint, 'Done', schemas), ...Object.fromEntries(said) }
  }
  const byStatus = Map.groupBy(
    new Set([...refusalsOnTheWay(endpoint), ...(endpoint.refuses ?? [])]),
    name => REFUSALS[name].status,
  )
  const refused = [...byStatus]
    .toSorted(([a], [b]) => a - b)
    .map(([status, names]) => [
      status,
      {
        description: names
          .map(name => REFUSALS[name].error + codeInWords(refusalBody(new Refusal(name), surfaceOf(endpoint))))
          .join('; '),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } },
      },
    ])
  return { [endpoint.status ?? 200]: answerOf(endpoint, 'Done', schemas), ...Object.fromEntries(refused) }
}

const codeInWords = ({ code }: RefusalBody): string => (code === undefined ? '' : ` (\`${code}\`)`)

function answerOf({ reply }: Endpoint, description: string, schemas: Json): Json {
  return reply === undefined
    ? { description }
    : { description, content: { 'application/json': { schema: schemaOf(reply, schemas) } } }
}

/** The wire's side of a schema, with its named parts moved to components. */
function schemaOf(schema: z.ZodType, schemas: Json): Json {
  const {
    $schema: _,
    $defs = {},
    ...rest
  } = z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12', unrepresentable: 'any' }) as Json & {
    $defs?: Json
  }
  for (const [name, part] of Object.entries($defs)) schemas[name] = pointed(part)
  return pointed(rest) as Json
}

/** References rewritten to where the parts now lie; the long patterns that only repeat a format left out. */
function pointed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(pointed)
  if (typeof part !== 'object' || part === null) return part
  const entries = Object.entries(part).filter(([key]) => !(key === 'pattern' && 'format' in part))
  return Object.fromEntries(
    entries.map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string' ? value.replace('#/$defs/', '#/components/schemas/') : pointed(value),
    ]),
  )
}
