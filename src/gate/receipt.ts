/**
 * What a change answers to a key: what was written. No right of a key reads what stood there before, so of a row that was changed it
 * gets the id, the fields it has sent, the state that the endpoint declares in `receipt`, the warnings and the consequences. A session
 * gets the whole row.
 */
import { z } from 'zod'
import type { Endpoint } from '../contract/endpoint.ts'

type Json = { readonly [name: string]: unknown }
type Fields = Record<string, z.ZodType>

/** What a write tells of itself, whatever was sent. */
const ALWAYS = ['id', 'warnings', 'campaigns_on_fallback']

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The fields of an answer that a key gets in any case, and those it gets where it has sent them; undefined where it gets the whole. */
function fieldsOf({ reply, body, receipt }: Endpoint): { always: string[]; sent: string[]; shape: Fields } | undefined {
  if (receipt === undefined || !(reply instanceof z.ZodObject)) return undefined
  const shape = reply.shape as Fields
  const always = [...new Set([...ALWAYS.filter(name => name in shape), ...receipt])]
  const missing = receipt.filter(name => !(name in shape))
  if (missing.length > 0) throw new Error(`a receipt names ${missing.join(', ')}, which is not in the reply`)
  const sendable = body instanceof z.ZodObject ? Object.keys(body.shape) : []
  return { always, sent: sendable.filter(name => name in shape && !always.includes(name)), shape }
}

/** The schema of what keys are answered, or undefined where they are answered like sessions. */
export function receiptSchema(endpoint: Endpoint): z.ZodType | undefined {
  const fields = fieldsOf(endpoint)
  if (fields === undefined) return undefined
  const { always, sent, shape } = fields
  return z
    .object({
      ...Object.fromEntries(always.map(name => [name, shape[name] as z.ZodType])),
      ...Object.fromEntries(sent.map(name => [name, ofWhatWasSent(shape[name] as z.ZodType).optional()])),
    })
    .meta({ description: 'To a key: the id, the fields it has sent, the state, warnings and consequences' })
}

/** Members of a list, and an object that a row may lack, are answered with the fields that were sent of them. */
function ofWhatWasSent(schema: z.ZodType): z.ZodType {
  const inner = schema instanceof z.ZodNullable ? schema.unwrap() : undefined
  if (inner instanceof z.ZodObject) return inner.partial().nullable()
  const element = schema instanceof z.ZodArray ? schema.element : undefined
  return element instanceof z.ZodObject ? z.array(element.partial()) : schema
}

/** Of an encoded answer, what a key is told that has sent this body. */
export function receiptFor(endpoint: Endpoint, body: unknown, answered: unknown): unknown {
  const fields = fieldsOf(endpoint)
  if (fields === undefined || !isObject(answered)) return answered
  const given = isObject(body) ? body : {}
  const sent = fields.sent.filter(name => Object.hasOwn(given, name) && !isKept(given[name], answered[name]))
  return Object.fromEntries([
    ...fields.always.map(name => [name, answered[name]] as const),
    ...sent.map(name => [name, narrowed(answered[name], given[name])] as const),
  ])
}

/** Null clears, or is the same as not sent: where something stands all the same, it stood there before. */
function isKept(sent: unknown, stands: unknown): boolean {
  const isEmpty = stands === null || (typeof stands === 'object' && Object.keys(stands ?? {}).length === 0)
  return sent === null && !isEmpty
}

/** The written value without what the row knows beyond what was sent, such as the names of a funnel's members. */
function narrowed(written: unknown, sent: unknown): unknown {
  if (Array.isArray(written) && Array.isArray(sent)) return written.map((item, at) => narrowed(item, sent[at]))
  if (!isObject(written) || !isObject(sent)) return written
  return Object.fromEntries(Object.entries(written).filter(([name]) => Object.hasOwn(sent, name)))
}
