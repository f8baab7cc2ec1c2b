/**
 * The arguments a host has sent, read as what is meant: null is what many hosts send for "not given"; objects, lists, numbers and booleans
 * come as text from some. What is nested is closed: of a field that is not known nobody can say what it was to do.
 */
import { Refusal } from '../contract/refusals.ts'
import { readJson } from '../gate/read.ts'
import type { Json } from './derive.ts'

/** What was given, and what is wrong with it: each problem with its place, and for fields that are not known which there are. */
export type Read = { readonly given: Json; readonly problems: readonly string[]; readonly known: readonly string[] }

type Found = { problems: string[]; known: Set<string> }

/** Reads arguments by the schema a tool shows. What does not fit it in another way is left as it is, because the route says it better. */
export function readArguments(tool: string, properties: Readonly<Record<string, Json>>, sent: Json): Read {
  const found: Found = { problems: [], known: new Set() }
  const given: Json = {}
  for (const [name, value] of Object.entries(sent)) {
    if (value === null) continue
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (schema !== undefined) given[name] = readValue(schema, value, name, found)
    else {
      const meant = meantBy(name, Object.keys(properties))
      found.problems.push(`arguments/${name.slice(0, 50)}: ${tool} has no such argument${meant}`)
      found.known.add(`${tool} takes ${Object.keys(properties).join(', ') || 'no arguments'}.`)
    }
  }
  return { given, problems: found.problems, known: [...found.known] }
}

function readValue(schema: Json, value: Json[string], at: string, found: Found): Json[string] {
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

/** Text that holds what is wanted, or the text itself. The depth and the characters are those any body may have. */
function readText(text: string, isWanted: (value: unknown) => boolean, at: string, found: Found): Json[string] {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    const value = readJson(Buffer.from(text)) as Json[string]
    return isWanted(value) ? value : text
  } catch (error) {
    const why = error instanceof Refusal ? (error.detail.hint ?? '') : ''
    found.problems.push(`arguments/${at}: is a text that is no JSON. ${why}`.trim())
    return text
  }
}

/** A free object, such as the payload of a conversion, is kept as it is; of one with fields, null is not given and the rest must be known. */
function readObject(schema: Json, value: Json, at: string, found: Found): Json {
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
    found.problems.push(`arguments/${at}: there is no "${name.slice(0, 50)}" here${meantBy(name, names)}`)
    found.known.add(`${at.replace(/\d+/g, '*')} takes ${names.join(', ')}.`)
  }
  return read
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const lettersOf = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '')

/** The name that differs in its spelling only, such as clickId for click_id. */
function meantBy(name: string, names: readonly string[]): string {
  const meant = names.find(one => lettersOf(one) === lettersOf(name))
  return meant === undefined ? '' : `, but there is ${meant}`
}
