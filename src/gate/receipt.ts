/**
 * The answer to a change by a key, called a receipt. No right of a key reads the previous values of a row, so a receipt holds only the id,
 * the fields that the key sent, the state that the endpoint declares in `receipt`, the warnings and the consequences. A session gets the
 * whole row.
 */
import { z } from 'zod'
import type { Endpoint } from '../contract/endpoint.ts'
import { LABELS } from '../contract/labels.ts'

type Json = { readonly [name: string]: unknown }
type Fields = Record<string, z.ZodType>

/** The fields in every receipt, whatever was sent. */
const ALWAYS = ['id', 'warnings', 'campaigns_on_fallback']

/** Fields that keys are not answered with, because they are the workspace's own words. */
const OF_SESSIONS = Object.keys(LABELS)

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The fields a key always gets, and those it gets if it sent them. Undefined when it gets the whole reply. */
function fieldsOf({ reply, body, receipt }: Endpoint): { always: string[]; sent: string[]; shape: Fields } | undefined {
  if (receipt === undefined || !(reply instanceof z.ZodObject)) return undefined
  const shape = reply.shape as Fields
  const always = [...new Set([...ALWAYS.filter(name => name in shape), ...receipt])]
  const missing = receipt.filter(name => !(name in shape))
  if (missing.length > 0) throw new Error(`a receipt names ${missing.join(', ')}, which is not in the reply`)
  const sendable = body instanceof z.ZodObject ? Object.keys(body.shape) : []
  return { always, sent: sendable.filter(name => name in shape && !always.includes(name)), shape }
}

/** The schema of the receipt. Undefined when keys get the same answer as sessions. */
export function receiptSchema(endpoint: Endpoint): z.ZodType | undefined {
  const fields = fieldsOf(endpoint)
  if (fields === undefined) return withoutLabels(endpoint)
  const { always, sent, shape } = fields
  return z
    .object({
      ...Object.fromEntries(always.map(name => [name, shape[name] as z.ZodType])),
      ...Object.fromEntries(sent.map(name => [name, withSentFields(shape[name] as z.ZodType).optional()])),
    })
    .meta({ description: 'The answer to a key: the id, the fields it sent, the state, warnings and consequences' })
}

/** The whole reply without the fields of sessions; undefined if it has none, or if no key gets it. */
function withoutLabels({ access, reply }: Endpoint): z.ZodType | undefined {
  if (access === 'anyone' || !('key' in access) || !(reply instanceof z.ZodObject)) return undefined
  const shape = reply.shape as Fields
  if (!OF_SESSIONS.some(name => name in shape)) return undefined
  return z
    .object(Object.fromEntries(Object.entries(shape).filter(([name]) => !OF_SESSIONS.includes(name))))
    .meta({ description: 'The answer to a key, without tags and note' })
}

/** The schema with optional fields inside lists of objects and nullable objects, because a receipt holds only those that were sent. */
function withSentFields(schema: z.ZodType): z.ZodType {
  const inner = schema instanceof z.ZodNullable ? schema.unwrap() : undefined
  if (inner instanceof z.ZodObject) return inner.partial().nullable()
  const element = schema instanceof z.ZodArray ? schema.element : undefined
  return element instanceof z.ZodObject ? z.array(element.partial()) : schema
}

/** The receipt for a key that sent this body, taken from the encoded reply. */
export function receiptFor(endpoint: Endpoint, body: unknown, reply: unknown): unknown {
  const fields = fieldsOf(endpoint)
  if (!isObject(reply)) return reply
  if (fields === undefined)
    return Object.fromEntries(Object.entries(reply).filter(([name]) => !OF_SESSIONS.includes(name)))
  const given = isObject(body) ? body : {}
  const sent = fields.sent.filter(name => Object.hasOwn(given, name) && !keepsPrevious(given[name], reply[name]))
  return Object.fromEntries([
    ...fields.always.map(name => [name, reply[name]] as const),
    ...sent.map(name => [name, narrowed(reply[name], given[name])] as const),
  ])
}

/** Whether null was sent and the field still has a value. Null then meant "not sent", so the value is a previous one and must not be shown. */
function keepsPrevious(sent: unknown, stored: unknown): boolean {
  const isEmpty = stored === null || (typeof stored === 'object' && Object.keys(stored ?? {}).length === 0)
  return sent === null && !isEmpty
}

/** The written value without the fields that were not sent, such as the names of a funnel's members. */
function narrowed(written: unknown, sent: unknown): unknown {
  if (Array.isArray(written) && Array.isArray(sent)) return written.map((item, at) => narrowed(item, sent[at]))
  if (!isObject(written) || !isObject(sent)) return written
  return Object.fromEntries(Object.entries(written).filter(([name]) => Object.hasOwn(sent, name)))
}
