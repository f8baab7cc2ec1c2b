/** Reads the query, the body and the Idempotency-Key of a call, or refuses what is wrong with them. */
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Endpoint } from '../contract/endpoint.ts'
import type { RefusalName } from '../contract/refusal-catalogue.ts'
import { type RefusalDetail, refuse } from '../contract/refusals.ts'
import { issueWords } from './answer.ts'
import { IDEMPOTENCY_KEY_LENGTH } from './once.ts'
import { headerText } from './read.ts'
import type { ArgumentObjection } from './tool-call.ts'

/** The objection to a tool's arguments, joined with the validation errors of the other fields, so that the caller can fix all at once. */
export function withFaults(
  { error, hint, covers }: ArgumentObjection,
  { query, body }: Endpoint,
  request: FastifyRequest,
): RefusalDetail {
  const read = query?.safeParse(request.query) ?? body?.safeParse(request.body)
  const faults = read?.error?.issues.filter(({ path }) => !covers.includes(String(path[0]))) ?? []
  const words = faults.length === 0 ? [] : [issueWords(faults)]
  return { error: [error, ...words].join('; '), ...(hint === undefined ? {} : { hint }) }
}

export type SentQuery = Readonly<Record<string, string | string[]>>

/** The decoded query. Refuses a parameter that is sent twice but takes one value, because it is unclear which one is meant. */
export function parsedQuery(schema: z.ZodType, sent: SentQuery): unknown {
  const read = schema.safeParse(sent)
  if (read.success) return read.data
  const twice = new Set(read.error.issues.map(({ path }) => String(path[0])).filter(name => Array.isArray(sent[name])))
  if (twice.size === 0) throw read.error
  return refuse('invalid_request', { error: `${[...twice].join(', ')}: must be sent once` })
}

/** The decoded body. Refuses `misfit` with the faults in words. */
export function parsedBody(schema: z.ZodType, sent: unknown, misfit: RefusalName = 'invalid_request'): unknown {
  const read = schema.safeParse(sent)
  return read.success ? read.data : refuse(misfit, { error: issueWords(read.error.issues) })
}

/** The header Idempotency-Key; undefined if it was not sent. */
export function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const sent = request.headers['idempotency-key']
  if (sent === undefined) return undefined
  // Node joins repeated headers, so only the raw list distinguishes two keys from one that contains a comma.
  const times = request.raw.rawHeaders.filter(
    (name, at) => at % 2 === 0 && name.toLowerCase() === 'idempotency-key',
  ).length
  const key = headerText(String(sent))
  if (times > 1 || key.length < 1 || Array.from(key).length > IDEMPOTENCY_KEY_LENGTH)
    refuse('invalid_request', {
      error: `Idempotency-Key: must be sent once, with 1 to ${IDEMPOTENCY_KEY_LENGTH} characters`,
    })
  return key
}
