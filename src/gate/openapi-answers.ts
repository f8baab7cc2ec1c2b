/** The responses of an endpoint for the OpenAPI document: its reply, the possible refusals, and their headers. */
import { z } from 'zod'
import type { Endpoint, HeaderName, DescribedAnswer } from '../contract/endpoint.ts'
import { rightOf, isReading, routeOf } from '../contract/endpoint.ts'
import { REFUSALS, type RefusalName } from '../contract/refusal-catalogue.ts'
import { Refusal, type RefusalBody, refusalBody } from '../contract/refusals.ts'
import { RIGHTS } from '../contract/rights.ts'
import { isOfDashboard } from './host.ts'
import { isKeyOnly, surfaceOf } from './identify.ts'
import { receiptSchema } from './receipt.ts'
import { type OpenApiObject, schemaOf } from './openapi-schemas.ts'

const text = (description: string, examples: string[]) => ({ description, schema: { type: 'string', examples } })
const count = (description: string) => ({ description, schema: { type: 'integer', minimum: 0 } })

/** The response headers with their descriptions. */
export const HEADERS = {
  'Retry-After': count('Seconds to wait before sending the request again'),
  'X-RateLimit-Limit': count('Requests of this kind allowed per minute, for all keys of the organization together'),
  'X-RateLimit-Remaining': count('Requests left in this minute'),
  'X-RateLimit-Reset': count('The Unix time in seconds at which the next minute begins'),
  'Idempotent-Replayed': text('Sent only if the event had been recorded before, so that nothing happened again', [
    'true',
  ]),
  ETag: text('Names this version, for If-None-Match', ['"Zb3qf6n0Xk2mUw8sLh1yTA"']),
  Location: text('The address to go to', ['https://example.com/?sub1=01h455vb4pex5vsknk084sn02q']),
  'Set-Cookie': text('The cookie, if one is set', []),
  Allow: text('The method that this route accepts', ['POST']),
  'WWW-Authenticate': text('Where a host begins to connect', [
    'Bearer resource_metadata="https://sluice.example/.well-known/oauth-protected-resource/mcp"',
  ]),
} as const satisfies Record<HeaderName, OpenApiObject>

const QUOTA_HEADERS: HeaderName[] = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

/** Statuses with Retry-After, and statuses that can occur after a call was counted against its quota. */
const WITH_RETRY_AFTER = new Set([429, 503])
const AFTER_QUOTA = new Set([400, 403, 404, 409, 422, 429, 500, 504])

type Response = { description: string; headers?: OpenApiObject; content?: OpenApiObject }

/** The refusals that the gate itself can make before the deed of this endpoint runs. */
function refusalsOfGate(endpoint: Endpoint): RefusalName[] {
  const { access, query, once, repeatable, route } = endpoint
  const { path } = routeOf(endpoint)
  const names: RefusalName[] = ['internal_error', ...refusalsOfBodies(endpoint)]
  if (!route.startsWith('GET ') && path.startsWith('/api/') && !isKeyOnly(access))
    names.push('origin_required', 'origin_mismatch')
  if (path.startsWith('/api/auth/')) names.push('auth_route_closed')
  if (isOfDashboard(endpoint)) names.push('misdirected_request')
  // A path that is not valid percent-encoded UTF-8 is refused.
  if (path.includes(':')) names.push('invalid_request')
  // A path parameter of more than 2,048 characters matches no route.
  if (endpoint.visit && path.includes(':')) names.push('route_not_found')
  if (endpoint.visit) return access === 'anyone' ? names : [...names, 'sign_in_required']
  if (query && !isKeyOnly(access)) names.push('invalid_request')
  if (!isKeyOnly(access)) names.push('service_unavailable')
  if (access === 'anyone') return names
  if (!isKeyOnly(access)) names.push(...refusalsOfSessions(endpoint))
  if (isKeyOnly(access) || isReading(endpoint)) names.push('read_timed_out')
  names.push(...refusalsOfKeys(endpoint))
  if (repeatable) names.push('idempotency_key_used', 'invalid_request')
  if (once) names.push('in_flight', 'timed_out')
  return names
}

/** A body is read on every method but GET, even if the endpoint declares none. */
function refusalsOfBodies({ route, body, takesRaw, takesFile, misfit = 'invalid_request' }: Endpoint): RefusalName[] {
  if (route.startsWith('GET ')) return []
  const names: RefusalName[] = ['payload_too_large', 'unsupported_encoding']
  if (!takesRaw && takesFile === undefined) names.push('invalid_json')
  return body === undefined ? names : [...names, misfit]
}

function refusalsOfSessions({ access }: Endpoint): RefusalName[] {
  const names: RefusalName[] = ['sign_in_required']
  if (access === 'anyone' || access.session === 'person') return names
  names.push('no_organization', 'org_deleted', 'second_factor_required')
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

/** All responses of an endpoint, by status. */
export function responses(endpoint: Endpoint, schemas: OpenApiObject): OpenApiObject {
  const { answers = {}, visit } = endpoint
  const all = new Map<number, Response>()
  const add = (status: number, response: Response) => all.set(status, joined(all.get(status), response))
  if (endpoint.reply !== undefined || endpoint.answers === undefined)
    add(endpoint.status ?? 200, reply(endpoint, 'Done', schemas, [...headersOf(endpoint), ...quotaHeaders(endpoint)]))
  if (endpoint.answers === undefined || visit) for (const [status, refused] of refusals(endpoint)) add(status, refused)
  for (const [status, declared] of Object.entries(answers))
    add(Number(status), typeof declared === 'string' ? reply(endpoint, declared, schemas) : answerOf(declared, schemas))
  return Object.fromEntries([...all].toSorted(([a], [b]) => a - b))
}

const headersOf = ({ headers = [] }: Endpoint): readonly HeaderName[] => headers

/** The headers of a counted quota. Empty when calls to the endpoint are not counted. */
function quotaHeaders({ access, quota, route }: Endpoint): HeaderName[] {
  const isKeyWrite = rightOf(access) !== undefined && !route.startsWith('GET ')
  return quota !== undefined || isKeyWrite ? QUOTA_HEADERS : []
}

function joined(before: Response | undefined, added: Response): Response {
  if (before === undefined) return added
  const headers = { ...before.headers, ...added.headers }
  return {
    description: `${before.description}; ${added.description}`,
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    content: { ...before.content, ...added.content },
  }
}

function refusals(endpoint: Endpoint): [number, Response][] {
  const byStatus = Map.groupBy(
    new Set([...refusalsOfGate(endpoint), ...(endpoint.refuses ?? [])]),
    name => REFUSALS[name].status,
  )
  return [...byStatus].map(([status, names]) => {
    const words = names.map(
      name => REFUSALS[name].error + codeInWords(refusalBody(new Refusal(name), surfaceOf(endpoint))),
    )
    const headers = [
      ...(WITH_RETRY_AFTER.has(status) ? ['Retry-After' as const] : []),
      ...(AFTER_QUOTA.has(status) ? quotaHeaders(endpoint) : []),
    ]
    return [status, answerOf({ words: words.join('; '), type: 'refusal', headers }, {})]
  })
}

const codeInWords = ({ code }: RefusalBody): string => (code === undefined ? '' : ` (\`${code}\`)`)

function reply(
  endpoint: Endpoint,
  words: string,
  schemas: OpenApiObject,
  headers: readonly HeaderName[] = [],
): Response {
  const { reply: form, file } = endpoint
  if (file !== undefined) return answerOf({ words: 'The file', type: file, headers }, schemas)
  const receipt = receiptSchema(endpoint)
  const whole = form === undefined || receipt === undefined ? form : z.union([form, receipt])
  return answerOf(
    whole === undefined ? { words, headers } : { words, type: 'application/json', reply: whole, headers },
    schemas,
  )
}

function answerOf({ words, type, reply: form, headers = [] }: DescribedAnswer, schemas: OpenApiObject): Response {
  const named = headers.map(name => [name, { $ref: `#/components/headers/${name}` }])
  const [media, schema] =
    type === 'refusal'
      ? ['application/json', { $ref: '#/components/schemas/Refusal' }]
      : [type, form === undefined ? { type: 'string' } : schemaOf(form, schemas)]
  return {
    description: words,
    ...(named.length > 0 ? { headers: Object.fromEntries(named) } : {}),
    ...(media === undefined ? {} : { content: { [media]: { schema } } }),
  }
}
