/**
 * What a tool is: a name, words for a model, and the endpoint it calls. Its arguments are the endpoint's own fields, read off the
 * schemas the route validates with, so the two cannot drift apart: a field without words does not compile.
 */
import { type Endpoint, rightOf, routeOf, type WireCall, type WireReply } from '../contract/endpoint.ts'
import { RIGHTS, type Right } from '../contract/rights.ts'
import type { ArgumentObjection } from '../gate/tool-call.ts'
import { type Read, readArguments } from './arguments.ts'
import { type Derived, derivedFields, type Json } from './derive.ts'

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
  /** Arguments of which only one may be given, and whether one must be; `field` is what they make. */
  readonly choice?: { readonly of: readonly string[]; readonly isRequired: boolean; readonly field: string }
  /** What is sent where an argument is not given. */
  readonly unlessGiven?: Json
  /** Fields of a tool that changes which it may empty, by their names in `clear`: the one way no host takes by accident. */
  readonly clearable?: readonly FieldsOf<E>[]
  /** What the answer says beyond the route's. */
  alsoSays?(answered: WireReply<E>, call: Called): Json
}

/** What a tool may say more of: the body that was sent, whether it had been recorded before, and where Sluice is reached, if known. */
export type Called = {
  readonly body: Json | undefined
  readonly isReplayed: boolean
  readonly origin: string | undefined
}

type ToolRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly body?: Json
  /** Why the arguments cannot become a request; what else is wrong with them, the route says. */
  readonly objection?: ArgumentObjection
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
  requestFor(sent: Json): ToolRequest
  /** What the route has answered, with what the tool says beside it. */
  answerFor(answered: Json, call: Called): Json
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
      description: `${draft.description} Needs the right "${right}" (${RIGHTS[right].tier}).`,
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
    own: [
      ...(draft.id === undefined ? [] : [draft.id.name]),
      ...Object.keys(draft.flat?.arguments ?? {}),
      ...(draft.clearable === undefined ? [] : [CLEAR]),
    ],
    requestFor: sent => {
      const read = readArguments(draft.name, properties, sent)
      const objection = objectionTo(draft, read)
      return { ...requestFor(draft, derived, read.given), ...(objection === undefined ? {} : { objection }) }
    },
    answerFor: (answered, call) => ({ ...answered, ...draft.alsoSays?.(answered as WireReply<E>, call) }),
    inItsWords: said =>
      Object.entries(draft.flat?.called ?? {}).reduce((text, [field, name]) => text.replaceAll(field, name), said),
  }
}

function isLeftOut(shown: Shown | LeftOut): shown is LeftOut {
  return typeof shown === 'object' && 'leftOut' in shown
}

/** The argument that names the fields to empty. */
const CLEAR = 'clear'

function propertiesOf(
  { id, flat, clearable }: Draft<Endpoint>,
  fields: readonly (readonly [string, Shown | LeftOut])[],
  derived: Derived,
): Record<string, Json> {
  const properties: Record<string, Json> = {}
  if (id !== undefined) properties[id.name] = { type: 'string', description: id.text }
  for (const [name, shown] of [...fields, ...Object.entries(flat?.arguments ?? {})])
    if (!isLeftOut(shown))
      properties[name] =
        typeof shown === 'string' ? { ...(derived.properties[name] ?? { type: 'string' }), description: shown } : shown
  if (clearable !== undefined)
    properties[CLEAR] = {
      type: 'array',
      items: { type: 'string', enum: [...clearable] },
      description: 'Fields to empty: an empty value leaves them.',
    }
  return properties
}

function objectionTo({ name, id, choice, clearable }: Draft<Endpoint>, read: Read): ArgumentObjection | undefined {
  const { given } = read
  const problems = [...read.problems, ...(clearable === undefined ? [] : clearingProblems(given, clearable))]
  if (id !== undefined && (typeof given[id.name] !== 'string' || given[id.name] === ''))
    problems.unshift(`arguments/${id.name}: is required, a text`)
  const chosen = choice?.of.filter(argument => isGiven(given[argument])).length ?? 0
  const isChosenWrong = choice !== undefined && (chosen > 1 || (choice.isRequired && chosen === 0))
  if (isChosenWrong)
    problems.unshift(`arguments: give ${choice.isRequired ? 'exactly' : 'at most'} one of ${choice.of.join(', ')}`)
  if (problems.length === 0) return undefined
  return {
    error: problems.slice(0, 5).join('; '),
    hint: read.known.length > 0 ? read.known.join(' ') : `The arguments of ${name} are in its schema.`,
    covers: isChosenWrong ? [choice.field] : [],
  }
}

function clearingProblems({ [CLEAR]: cleared, ...given }: Json, clearable: readonly string[]): string[] {
  if (!isGiven(cleared)) return []
  if (!Array.isArray(cleared)) return [`arguments/${CLEAR}: must be a list of ${clearable.join(', ')}`]
  return cleared.flatMap(field => {
    if (typeof field !== 'string' || !clearable.includes(field))
      return [`arguments/${CLEAR}: each must be one of ${clearable.join(', ')}`]
    return isGiven(given[field]) ? [`arguments/${field}: is given and in ${CLEAR}; do one of both`] : []
  })
}

/** Null, the empty text and what is empty otherwise are what hosts and models send for "nothing". */
export function isGiven(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}

/** What an id is made of. Anything else names no row, and must not bend the path. */
const ID_FORM = /^[0-9A-Za-z-]{1,64}$/
const NO_ROW = '-'

function requestFor({ endpoint, id, flat, unlessGiven }: Draft<Endpoint>, derived: Derived, given: Json): ToolRequest {
  const { method, path } = routeOf(endpoint)
  const { [id?.name ?? '']: row, [CLEAR]: cleared, ...rest } = { ...unlessGiven, ...given }
  const url = path.replace(':id', typeof row === 'string' && ID_FORM.test(row) ? row : NO_ROW)
  if (endpoint.query !== undefined) return { method, url: url + queryOf(rest) }
  if (endpoint.body === undefined) return { method, url }
  const fields = Object.entries(flat === undefined ? rest : flat.nest(rest))
  const body = method === 'PATCH' ? changes(fields, cleared, derived) : emptied(fields, derived)
  return { method, url, body }
}

type Fields = readonly (readonly [name: string, value: Json[string]])[]

/** Of what is replaced or made anew an empty text says "nothing", where the route would want null, because plain schemas have no null. */
function emptied(fields: Fields, { nullable }: Derived): Json {
  return Object.fromEntries(fields.map(([name, value]) => [name, value === '' && nullable.has(name) ? null : value]))
}

/** What stays when it is not given is emptied only where `clear` names it: hosts that fill in everything send empty texts and lists. */
function changes(fields: Fields, cleared: Json[string] | undefined, { properties }: Derived): Json {
  const names = Array.isArray(cleared) ? cleared.filter(name => typeof name === 'string') : []
  const kept = fields.filter(([name, value]) => isGiven(value) || (value !== '' && !isFilled(properties[name])))
  return Object.fromEntries([
    ...kept,
    ...names.map(name => [name, properties[name]?.['type'] === 'array' ? [] : null] as const),
  ])
}

/** Whether it is a list or an object, which is nothing when it is empty; anything empty elsewhere is a mistake to be told. */
function isFilled(schema: Json | undefined): boolean {
  return schema?.['type'] === 'array' || schema?.['type'] === 'object'
}

function queryOf(given: Json): string {
  const sent = Object.entries(given).filter(([, value]) => isGiven(value))
  const query = new URLSearchParams(sent.map(([name, value]): [string, string] => [name, inWords(value)])).toString()
  return query === '' ? '' : `?${query}`
}

function inWords(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
