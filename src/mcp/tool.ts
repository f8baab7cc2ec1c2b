/**
 * The definition of a tool: a name, texts for a model, and the endpoint it calls. Its arguments are derived from the schemas that the route
 * validates with, so that tool and route cannot differ. A field without a text does not compile.
 */
import { type Endpoint, isReading, rightOf, routeOf, type WireCall, type WireReply } from '../contract/endpoint.ts'
import type { Right } from '../contract/rights.ts'
import type { ArgumentObjection } from '../gate/tool-call.ts'
import { type ReadArguments, readArguments } from './arguments.ts'
import { type DerivedFields, derivedFields, type Json } from './derive.ts'

/** All four hints are always given, because hosts treat an omitted one as destructive and open-world. */
export type Hints = {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

/** A field of the route that the tool does not take, and why. */
type LeftOut = { readonly leftOut: string }
/** Marks a field of the route that the tool does not offer. */
export const leftOut = (why: string): LeftOut => ({ leftOut: why })

/** A description for the derived schema of a field (empty: its name says it), or a schema that replaces it. */
type FieldText = string | (Json & { readonly type: string })

type Keys<T> = T extends object ? keyof T & string : never
type FieldsOf<E extends Endpoint> = Keys<WireCall<E>['query']> | Keys<WireCall<E>['body']>

type Draft<E extends Endpoint> = {
  readonly name: `service_${string}`
  readonly title: string
  /** Irreversible effects come first. The right is named where the tool's name does not say it. */
  readonly description: string
  readonly hints: Hints
  readonly endpoint: E
  readonly fields: { readonly [F in FieldsOf<E>]: FieldText | LeftOut }
  /** The argument for the id in the route's path, if it has one. */
  readonly id?: { readonly name: string; readonly text: string }
  /** Flat arguments for a nested field, and the function that nests them. */
  readonly flat?: {
    readonly arguments: Readonly<Record<string, FieldText>>
    readonly nest: (given: Json) => Json
    /** The argument for each nested field, by the route's name of the field. */
    readonly called: Readonly<Record<string, string>>
  }
  /** Arguments of which at most one may be given (exactly one if required); `field` is the route's field they produce. */
  readonly choice?: { readonly of: readonly string[]; readonly isRequired: boolean; readonly field: string }
  /** The default values of arguments. */
  readonly unlessGiven?: Json
  /** Fields that the tool can empty when their names are in `clear`. Hosts do not send such a list by accident, unlike empty values. */
  readonly clearable?: readonly FieldsOf<E>[]
  /** Adds fields to the route's answer. */
  addToReply?(reply: WireReply<E>, call: MadeCall): Json
}

/** The call behind an answer: the body sent, whether it had been recorded before, and the base address of Sluice, if known. */
export type MadeCall = {
  readonly body: Json | undefined
  readonly isReplayed: boolean
  readonly origin: string | undefined
}

export type ToolRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly body?: Json
  readonly idempotency_key?: string
  /** Nothing is kept: the answer says what would happen. */
  readonly is_dry_run: boolean
  readonly confirmation?: string
  /** Why the arguments cannot become a request. The route reports other errors. */
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
  /** The route's fields without an argument of the same name, each with the reason. */
  readonly leftOut: Readonly<Record<string, string>>
  /** Arguments that are not fields of the route: the id in the path, and the flat arguments of a nested field. */
  readonly own: readonly string[]
  requestFor(sent: Json): ToolRequest
  /** Whether a key that asks first needs a confirmation for this call and has sent none. */
  asks(sent: Json): boolean
  /** The route's reply with the tool's additions. */
  answerFor(reply: Json, call: MadeCall): Json
  /** A text of the route with the names of its nested fields replaced by those of the arguments. */
  withArgumentNames(text: string): string
}

type InputSchema = Tool['shown']['inputSchema']
type ToolInput = { readonly derived: DerivedFields; readonly schema: InputSchema }

/** A tool's arguments, derived from the fields of its route. */
function inputOf(draft: Draft<Endpoint>, fields: readonly (readonly [string, FieldText | LeftOut])[]): ToolInput {
  const derived = derivedFields(draft.endpoint)
  const properties = propertiesOf(draft, fields, derived)
  const required = [
    ...(draft.id === undefined ? [] : [draft.id.name]),
    ...derived.required.filter(name => name in properties),
  ]
  const needed = required.length > 0 ? { required } : {}
  return { derived, schema: { type: 'object', properties, ...needed, additionalProperties: false } }
}

/** Declares a tool. */
export function tool<const E extends Endpoint>(draft: Draft<E>): Tool {
  const right = rightOf(draft.endpoint.access)
  if (right === undefined) throw new Error(`${draft.name}: no right opens ${draft.endpoint.route}`)
  const fields = Object.entries<FieldText | LeftOut>(draft.fields)
  let kept: ToolInput | undefined
  // Derived at the first use, because all schemas together would take a twentieth of each start.
  const input = () => (kept ??= inputOf(draft, fields))
  return {
    endpoint: draft.endpoint,
    right,
    shown: {
      name: draft.name,
      title: draft.title,
      description: draft.description,
      get inputSchema() {
        return input().schema
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
      ...(draft.endpoint.repeatable === true ? [IDEMPOTENCY_KEY] : []),
      ...(isReading(draft.endpoint) ? [] : [DRY_RUN]),
      ...(draft.hints.destructiveHint ? [CONFIRMATION] : []),
    ],
    requestFor: sent => {
      const { derived, schema } = input()
      const read = readArguments(draft.name, schema.properties, sent)
      const objection = objectionTo(draft, read)
      return { ...requestFor(draft, derived, read.given), ...(objection === undefined ? {} : { objection }) }
    },
    asks: sent =>
      draft.hints.destructiveHint &&
      !isGiven(sent[CONFIRMATION]) &&
      (!isGiven(sent[DRY_RUN]) || sent[DRY_RUN] === false),
    answerFor: (reply, call) => ({ ...reply, ...draft.addToReply?.(reply as WireReply<E>, call) }),
    withArgumentNames: text =>
      Object.entries(draft.flat?.called ?? {}).reduce(
        (renamed, [field, name]) => renamed.replaceAll(field, name),
        text,
      ),
  }
}

function isLeftOut(shown: FieldText | LeftOut): shown is LeftOut {
  return typeof shown === 'object' && 'leftOut' in shown
}

/** The argument that names the fields to empty. */
const CLEAR = 'clear'

/** The argument of every tool that writes. */
const DRY_RUN = 'dry_run'

/** The argument of destructive tools that keys which ask first need. */
const CONFIRMATION = 'confirmation'

/** The argument of creations that becomes the header Idempotency-Key, which holds printable ASCII. */
const IDEMPOTENCY_KEY = 'idempotency_key'
const HEADER_VALUE = /^[\x21-\x7e]{1,128}$/

function propertiesOf(
  { id, flat, clearable, endpoint, hints }: Draft<Endpoint>,
  fields: readonly (readonly [string, FieldText | LeftOut])[],
  derived: DerivedFields,
): Record<string, Json> {
  const properties: Record<string, Json> = {}
  if (id !== undefined) properties[id.name] = { type: 'string', description: id.text }
  for (const [name, shown] of [...fields, ...Object.entries(flat?.arguments ?? {})])
    if (!isLeftOut(shown))
      properties[name] =
        typeof shown === 'string'
          ? { ...(derived.properties[name] ?? { type: 'string' }), ...(shown === '' ? {} : { description: shown }) }
          : shown
  if (clearable !== undefined)
    properties[CLEAR] = {
      type: 'array',
      items: { type: 'string', enum: [...clearable] },
      description: 'Fields to empty; empty values do not.',
    }
  if (endpoint.repeatable === true) properties[IDEMPOTENCY_KEY] = { type: 'string' }
  if (!isReading(endpoint)) properties[DRY_RUN] = { type: 'boolean' }
  if (hints.destructiveHint) properties[CONFIRMATION] = { type: 'string' }
  return properties
}

function objectionTo(
  { name, id, choice, clearable, endpoint }: Draft<Endpoint>,
  read: ReadArguments,
): ArgumentObjection | undefined {
  const { given } = read
  const problems = [...read.problems, ...(clearable === undefined ? [] : clearingProblems(given, clearable))]
  if (id !== undefined && (typeof given[id.name] !== 'string' || given[id.name] === ''))
    problems.unshift(`arguments/${id.name}: is required, as text`)
  const repeated = endpoint.repeatable === true ? given[IDEMPOTENCY_KEY] : undefined
  if (isGiven(repeated) && !(typeof repeated === 'string' && HEADER_VALUE.test(repeated)))
    problems.unshift(`arguments/${IDEMPOTENCY_KEY}: must be 1 to 128 letters, digits or marks without spaces`)
  if (![undefined, true, false].includes(given[DRY_RUN] as boolean | undefined))
    problems.unshift(`arguments/${DRY_RUN}: must be true or false`)
  const chosen = choice?.of.filter(argument => isGiven(given[argument])).length ?? 0
  const isChosenWrong = choice !== undefined && (chosen > 1 || (choice.isRequired && chosen === 0))
  if (isChosenWrong)
    problems.unshift(`arguments: give ${choice.isRequired ? 'exactly' : 'at most'} one of ${choice.of.join(', ')}`)
  if (problems.length === 0) return undefined
  return {
    error: problems.slice(0, 5).join('; '),
    hint: read.known.length > 0 ? read.known.join(' ') : `See the schema of ${name} for its arguments.`,
    covers: isChosenWrong ? [choice.field] : [],
  }
}

function clearingProblems({ [CLEAR]: cleared, ...given }: Json, clearable: readonly string[]): string[] {
  if (!isGiven(cleared)) return []
  if (!Array.isArray(cleared)) return [`arguments/${CLEAR}: must be a list of ${clearable.join(', ')}`]
  return cleared.flatMap(field => {
    if (typeof field !== 'string' || !clearable.includes(field))
      return [`arguments/${CLEAR}: each must be one of ${clearable.join(', ')}`]
    return isGiven(given[field]) ? [`arguments/${field}: is both given and in ${CLEAR}; use only one`] : []
  })
}

/** Whether a value was given. Hosts and models send null, empty text, and empty lists and objects for "nothing". */
export function isGiven(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}

/** The form of an id. Any other text is replaced by an id that does not exist, so that it cannot change the path. */
const ID_FORM = /^[0-9A-Za-z-]{1,64}$/
const UNKNOWN_ID = '-'

function requestFor(
  { endpoint, id, flat, unlessGiven }: Draft<Endpoint>,
  derived: DerivedFields,
  given: Json,
): ToolRequest {
  const { method, path } = routeOf(endpoint)
  const {
    [id?.name ?? '']: row,
    [CLEAR]: cleared,
    [IDEMPOTENCY_KEY]: repeated,
    [DRY_RUN]: dry,
    [CONFIRMATION]: confirmed,
    ...rest
  } = { ...unlessGiven, ...given }
  const asked = {
    is_dry_run: dry === true,
    ...(typeof confirmed === 'string' && confirmed !== '' ? { confirmation: confirmed } : {}),
  }
  const url = path.replace(':id', typeof row === 'string' && ID_FORM.test(row) ? row : UNKNOWN_ID)
  if (endpoint.query !== undefined) return { method, url: url + queryOf(rest), ...asked }
  if (endpoint.body === undefined) return { method, url, ...asked }
  const fields = Object.entries(flat === undefined ? rest : flat.nest(rest))
  const body = method === 'PATCH' ? changes(fields, cleared, derived) : wholeBody(fields, derived)
  const idempotency_key = typeof repeated === 'string' && repeated !== '' ? repeated : undefined
  return { method, url, body, ...asked, ...(idempotency_key === undefined ? {} : { idempotency_key }) }
}

type Fields = readonly (readonly [name: string, value: Json[string]])[]

/** The body of a creation or replacement. Empty text in a nullable field becomes null, because plain schemas have no null. */
function wholeBody(fields: Fields, { nullable }: DerivedFields): Json {
  return Object.fromEntries(fields.map(([name, value]) => [name, value === '' && nullable.has(name) ? null : value]))
}

/** The body of a change. Only fields named in `clear` are emptied: some hosts fill every argument with empty texts and lists. */
function changes(fields: Fields, cleared: Json[string] | undefined, { properties }: DerivedFields): Json {
  const names = Array.isArray(cleared) ? cleared.filter(name => typeof name === 'string') : []
  const kept = fields.filter(([name, value]) => isGiven(value) || (value !== '' && !isListOrObject(properties[name])))
  return Object.fromEntries([
    ...kept,
    ...names.map(name => [name, properties[name]?.['type'] === 'array' ? [] : null] as const),
  ])
}

/** Whether the field is a list or an object, for which empty means "not given". In any other field an empty value is an error. */
function isListOrObject(schema: Json | undefined): boolean {
  return schema?.['type'] === 'array' || schema?.['type'] === 'object'
}

function queryOf(given: Json): string {
  const sent = Object.entries(given).filter(([, value]) => isGiven(value))
  const query = new URLSearchParams(sent.map(([name, value]): [string, string] => [name, queryText(value)])).toString()
  return query === '' ? '' : `?${query}`
}

function queryText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
