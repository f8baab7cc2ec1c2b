/**
 * What a tool is: a name, words for a model, and the endpoint it calls. Its arguments are the endpoint's own fields, read off the
 * schemas the route validates with, so the two cannot drift apart: a field without words does not compile.
 */
import type { JSONObject } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { type Endpoint, rightOf, routeOf, type WireCall } from '../contract/endpoint.ts'
import type { RefusalDetail } from '../contract/refusals.ts'
import { RIGHTS, type Right } from '../contract/rights.ts'

export type Json = JSONObject

/** All four are always said: what is left out counts as destructive and open to the world. */
export type Hints = {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

/** A field of the route that the tool does not take, and why. */
type LeftOut = { readonly leftOut: string }
/** Says of a field of the route that no tool offers it, and why. */
export const leftOut = (why: string): LeftOut => ({ leftOut: why })

/** Words for a derived schema, or a schema of its own where the derived one would say too little or too much. */
type Shown = string | (Json & { readonly description: string })

type Keys<T> = T extends object ? keyof T & string : never
type FieldsOf<E extends Endpoint> = Keys<WireCall<E>['query']> | Keys<WireCall<E>['body']>

type Draft<E extends Endpoint> = {
  readonly name: `service_${string}`
  readonly title: string
  /** What cannot be taken back comes first. The needed right is added at the end. */
  readonly description: string
  readonly hints: Hints
  readonly endpoint: E
  readonly fields: { readonly [F in FieldsOf<E>]: Shown | LeftOut }
  /** The argument that names the row, where the route has one in its path. */
  readonly id?: { readonly name: string; readonly text: string }
  /** Arguments that stand for a nested field, and how they make it. */
  readonly flat?: {
    readonly arguments: Readonly<Record<string, Shown>>
    readonly nest: (given: Json) => Json
    /** What the route calls the nested field, and which argument it is. */
    readonly called: Readonly<Record<string, string>>
  }
  /** Arguments of which only one may be given, and whether one must be. */
  readonly choice?: { readonly of: readonly string[]; readonly isRequired: boolean }
  /** What is sent where an argument is not given. */
  readonly unlessGiven?: Json
}

type ToolRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly body?: Json
}

export type Tool = {
  readonly endpoint: Endpoint
  readonly right: Right
  /** As tools/list shows it. */
  readonly shown: {
    readonly name: string
    readonly title: string
    readonly description: string
    readonly inputSchema: Json & { readonly type: 'object'; readonly properties: Record<string, Json> }
    readonly annotations: Hints
  }
  /** Fields of the route without an argument of their own name, with the reason. */
  readonly leftOut: Readonly<Record<string, string>>
  /** Arguments that are no field of the route: the id of the path, and those that stand for a nested field. */
  readonly own: readonly string[]
  /** Why these arguments cannot become a request; what else is wrong with them, the route says. */
  objectionTo(given: Json): RefusalDetail | undefined
  requestFor(given: Json): ToolRequest
  /** What the route says of its fields, with the names of the arguments. */
  inItsWords(said: string): string
}

/** Declares a tool. */
export function tool<const E extends Endpoint>(draft: Draft<E>): Tool {
  const right = rightOf(draft.endpoint.access)
  if (right === undefined) throw new Error(`${draft.name}: no right opens ${draft.endpoint.route}`)
  const derived = derivedFields(draft.endpoint)
  const fields = Object.entries<Shown | LeftOut>(draft.fields)
  const properties = propertiesOf(draft, fields, derived)
  const required = [
    ...(draft.id === undefined ? [] : [draft.id.name]),
    ...derived.required.filter(name => name in properties),
  ]
  return {
    endpoint: draft.endpoint,
    right,
    shown: {
      name: draft.name,
      title: draft.title,
      description: `${draft.description} Needs the ${RIGHTS[right].tier}-tier right "${right}".`,
      inputSchema: {
        type: 'object',
        properties,
        ...(required.length > 0 ? { required } : {}),
        additionalProperties: false,
      },
      annotations: draft.hints,
    },
    leftOut: Object.fromEntries(
      fields.flatMap(([name, shown]) => (isLeftOut(shown) ? [[name, shown.leftOut] as const] : [])),
    ),
    own: [...(draft.id === undefined ? [] : [draft.id.name]), ...Object.keys(draft.flat?.arguments ?? {})],
    objectionTo: given => objectionTo(draft, properties, given),
    requestFor: given => requestFor(draft, derived.nullable, given),
    inItsWords: said =>
      Object.entries(draft.flat?.called ?? {}).reduce((text, [field, name]) => text.replaceAll(field, name), said),
  }
}

function isLeftOut(shown: Shown | LeftOut): shown is LeftOut {
  return typeof shown === 'object' && 'leftOut' in shown
}

function propertiesOf(
  { id, flat }: Draft<Endpoint>,
  fields: readonly (readonly [string, Shown | LeftOut])[],
  derived: Derived,
): Record<string, Json> {
  const properties: Record<string, Json> = {}
  if (id !== undefined) properties[id.name] = { type: 'string', description: id.text }
  for (const [name, shown] of [...fields, ...Object.entries(flat?.arguments ?? {})])
    if (!isLeftOut(shown))
      properties[name] =
        typeof shown === 'string' ? { ...(derived.properties[name] ?? { type: 'string' }), description: shown } : shown
  return properties
}

type Derived = {
  properties: Record<string, Json>
  required: readonly string[]
  nullable: ReadonlySet<string>
}

/** The fields of an endpoint's query or body as a plain schema: no unions, no patterns, no words. */
export function derivedFields({ query, body }: Endpoint): Derived {
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

/** What is dropped from a derived schema: words for other readers, and patterns longer than what they say. */
const NOT_SHOWN = new Set(['pattern', 'description', 'examples', 'default', 'propertyNames'])

/** Hosts and models differ in what they make of unions, so of several kinds the one that can say all is kept: text. */
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
  const inner = Object.entries(properties ?? {}).map(([name, field]) => [name, plain(field)] as const)
  return {
    ...(type === undefined ? {} : { type: theOneThatSaysAll(type) }),
    ...Object.fromEntries(kept),
    ...(properties && { properties: Object.fromEntries(inner) }),
    ...(items && { items: plain(items) }),
  }
}

function theOneThatSaysAll(type: Json[string]): Json[string] {
  if (!Array.isArray(type)) return type
  return type.includes('string') ? 'string' : (type.find(kind => kind !== 'null') ?? 'null')
}

function objectionTo({ name, id, choice }: Draft<Endpoint>, properties: Json, given: Json): RefusalDetail | undefined {
  const problems = Object.keys(given)
    .filter(argument => !Object.hasOwn(properties, argument))
    .map(argument => `arguments/${argument.slice(0, 50)}: ${name} has no such argument`)
  if (id !== undefined && (typeof given[id.name] !== 'string' || given[id.name] === ''))
    problems.unshift(`arguments/${id.name}: is required, a text`)
  const chosen = choice?.of.filter(argument => isGiven(given[argument])).length ?? 0
  if (choice !== undefined && (chosen > 1 || (choice.isRequired && chosen === 0)))
    problems.unshift(`arguments: give ${choice.isRequired ? 'exactly' : 'at most'} one of ${choice.of.join(', ')}`)
  if (problems.length === 0) return undefined
  const known = Object.keys(properties).join(', ')
  return { error: problems.slice(0, 5).join('; '), hint: `${name} takes ${known === '' ? 'no arguments' : known}.` }
}

/** Null and the empty text are what models send for "nothing". */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

/** What an id is made of. Anything else names no row, and must not bend the path. */
const ID_FORM = /^[0-9A-Za-z-]{1,64}$/
const NO_ROW = '-'

function requestFor(
  { endpoint, id, flat, unlessGiven }: Draft<Endpoint>,
  nullable: ReadonlySet<string>,
  given: Json,
): ToolRequest {
  const { method, path } = routeOf(endpoint)
  const { [id?.name ?? '']: row, ...rest } = { ...unlessGiven, ...given }
  const url = path.replace(':id', typeof row === 'string' && ID_FORM.test(row) ? row : NO_ROW)
  if (endpoint.query !== undefined) return { method, url: url + queryOf(rest) }
  if (endpoint.body === undefined) return { method, url }
  const fields = Object.entries(flat === undefined ? rest : flat.nest(rest))
  // An empty text says "nothing" where the route would want null, because plain schemas have no null.
  const body = Object.fromEntries(
    fields.map(([name, value]) => [name, value === '' && nullable.has(name) ? null : value]),
  )
  return { method, url, body }
}

function queryOf(given: Json): string {
  const sent = Object.entries(given).filter(([, value]) => isGiven(value))
  const query = new URLSearchParams(sent.map(([name, value]): [string, string] => [name, inWords(value)])).toString()
  return query === '' ? '' : `?${query}`
}

function inWords(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
