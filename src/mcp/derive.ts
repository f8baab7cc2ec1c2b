/** Derives the fields of a tool from the schemas of its route, simplified so that every host can use them. */
import type { JSONObject } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Endpoint } from '../contract/endpoint.ts'

export type Json = JSONObject

export type DerivedFields = {
  properties: Record<string, Json>
  required: readonly string[]
  nullable: ReadonlySet<string>
}

/** The fields of an endpoint's query or body as a plain schema, without unions, patterns and texts. */
export function derivedFields({ query, body }: Endpoint): DerivedFields {
  const schema = query ?? body
  if (schema === undefined) return { properties: {}, required: [], nullable: new Set() }
  const { properties = {}, required = [] } = z.toJSONSchema(schema, {
    io: 'input',
    reused: 'inline',
    unrepresentable: 'any',
  }) as { properties?: Record<string, Json>; required?: string[] }
  const entries = Object.entries(properties)
  return {
    properties: Object.fromEntries(entries.map(([name, field]) => [name, plain(field)])),
    required,
    nullable: new Set(entries.filter(([, field]) => admitsNull(field)).map(([name]) => name)),
  }
}

function admitsNull({ anyOf, type }: Json): boolean {
  return type === 'null' || (Array.isArray(type) && type.includes('null')) || ((anyOf ?? []) as Json[]).some(admitsNull)
}

/** The keywords dropped from a derived schema: texts for other readers, and patterns, lengths and bounds that cost more tokens than they help. */
const NOT_SHOWN = new Set([
  'pattern',
  'minLength',
  'maxLength',
  'maxItems',
  'minimum',
  'maximum',
  'description',
  'examples',
  'default',
  'propertyNames',
])

/** Hosts and models handle unions differently, so of several types only the most general is kept: a string. */
function plain(schema: Json): Json {
  const { anyOf, type, properties, items, ...rest } = schema as Json & {
    anyOf?: Json[]
    properties?: Record<string, Json>
    items?: Json
  }
  if (anyOf !== undefined) {
    const kinds = anyOf.map(plain).filter(kind => kind['type'] !== 'null')
    return kinds.find(kind => kind['type'] === 'string') ?? kinds[0] ?? {}
  }
  const kept = Object.entries(rest).filter(([keyword]) => !NOT_SHOWN.has(keyword))
  const inner = Object.entries(properties ?? {})
    .filter(([, field]) => field['deprecated'] !== true)
    .map(([name, field]) => [name, plain(field)] as const)
  return {
    ...(type === undefined ? {} : { type: mostGeneralType(type) }),
    ...Object.fromEntries(kept),
    ...(properties && { properties: Object.fromEntries(inner) }),
    ...(items && { items: plain(items) }),
  }
}

function mostGeneralType(type: Json[string]): Json[string] {
  if (!Array.isArray(type)) return type
  return type.includes('string') ? 'string' : (type.find(kind => kind !== 'null') ?? 'null')
}
