/**
 * Reads the arguments of a tool call tolerantly: many hosts send null for "not given", and some send objects, lists, numbers and booleans as
 * text. Unknown fields are refused, also in nested objects, because their intended effect is unclear.
 */
import { Refusal } from '../contract/refusals.ts'
import { readJson } from '../gate/read.ts'
import type { Json } from './derive.ts'

/** The arguments read, their problems, and `known`: for each object with an unknown field, the fields that exist. */
export type ReadArguments = {
  readonly given: Json
  readonly problems: readonly string[]
  readonly known: readonly string[]
}

type Findings = { problems: string[]; known: Set<string> }

/** Reads arguments by the tool's schema. Other invalid values are left as they are, because the route reports them better. */
export function readArguments(tool: string, properties: Readonly<Record<string, Json>>, sent: Json): ReadArguments {
  const found: Findings = { problems: [], known: new Set() }
  const given: Json = {}
  for (const [name, value] of Object.entries(sent)) {
    if (value === null) continue
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (schema !== undefined) given[name] = readValue(schema, value, name, found)
    else {
      const meant = suggestion(name, Object.keys(properties))
      found.problems.push(`arguments/${name.slice(0, 50)}: ${tool} has no such argument${meant}`)
      found.known.add(`${tool} takes ${Object.keys(properties).join(', ') || 'no arguments'}.`)
    }
  }
  return { given, problems: found.problems, known: [...found.known] }
}

function readValue(schema: Json, value: Json[string], at: string, found: Findings): Json[string] {
  switch (schema['type']) {
    case 'object': {
      const read = typeof value === 'string' ? readText(value, isObject, at, found) : value
      return isObject(read) ? readObject(schema, read, at, found) : read
    }
    case 'array': {
      const read = typeof value === 'string' ? readText(value, Array.isArray, at, found) : value
      const items = schema['items'] as Json | undefined
      if (!Array.isArray(read) || items === undefined) return read
      return read.map((item, place) => readValue(items, item, `${at}/${place}`, found))
    }
    case 'integer':
    case 'number':
      return typeof value === 'string' && /^\s*-?\d{1,15}(\.\d{1,15})?\s*$/.test(value) ? Number(value) : value
    case 'boolean':
      return typeof value === 'string' && /^\s*(true|false)\s*$/i.test(value)
        ? value.trim().toLowerCase() === 'true'
        : value
    default:
      return value
  }
}

/** The value in a JSON text if it has the wanted type, otherwise the text itself. The limits of request bodies apply. */
function readText(text: string, isWanted: (value: unknown) => boolean, at: string, found: Findings): Json[string] {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    const value = readJson(Buffer.from(text)) as Json[string]
    return isWanted(value) ? value : text
  } catch (error) {
    const why = error instanceof Refusal ? (error.detail.hint ?? '') : ''
    found.problems.push(`arguments/${at}: is text that is not valid JSON. ${why}`.trim())
    return text
  }
}

/** Reads a nested object. One without fixed fields, such as the payload of a conversion, is kept as it is. */
function readObject(schema: Json, value: Json, at: string, found: Findings): Json {
  if (schema['additionalProperties'] !== false) return value
  const properties = schema['properties'] as Record<string, Json>
  const read: Json = {}
  for (const [name, inner] of Object.entries(value)) {
    if (inner === null) continue
    if (Object.hasOwn(properties, name)) {
      read[name] = readValue(properties[name] ?? {}, inner, `${at}/${name}`, found)
      continue
    }
    const names = Object.keys(properties)
    found.problems.push(`arguments/${at}: has no field "${name.slice(0, 50)}"${suggestion(name, names)}`)
    found.known.add(`${at.replace(/\d+/g, '*')} takes ${names.join(', ')}.`)
  }
  return read
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const plainName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '')

/** Suggests the field whose name differs only in spelling, such as click_id for clickId. */
function suggestion(name: string, names: readonly string[]): string {
  const meant = names.find(one => plainName(one) === plainName(name))
  return meant === undefined ? '' : `, but there is ${meant}`
}
