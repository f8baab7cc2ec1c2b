/** Warnings of amounts that were sent with more decimals than are stored. The gate adds them, because deeds get amounts that are rounded already. */
import { z } from 'zod'
import type { Endpoint } from '../contract/endpoint.ts'
import { toSixPlaces } from '../contract/fields.ts'
import { fieldsOf } from '../contract/json.ts'
import type { Warning } from '../contract/warnings.ts'

/** The fields of requests that are amounts with six decimals. */
const AMOUNTS = ['payout', 'amount', 'cost.amount', 'cost.max'] as const

/** The encoded reply with a warning for each rounded amount of the body. Unchanged if the endpoint's reply has no warnings. */
export function withRoundings({ reply }: Endpoint, sent: unknown, answered: unknown): unknown {
  if (!(reply instanceof z.ZodObject) || !('warnings' in reply.shape)) return answered
  const warnings = AMOUNTS.flatMap(field => roundingOf(field, at(sent, field)))
  if (warnings.length === 0) return answered
  const { warnings: others, ...row } = fieldsOf(answered)
  return { ...row, warnings: [...(Array.isArray(others) ? others : []), ...warnings] }
}

const at = (sent: unknown, path: string): unknown =>
  path.split('.').reduce((inner, name) => fieldsOf(inner)[name], sent)

/** A number that differs by less was rounded by the sender's own arithmetic, such as 0.1 + 0.2. */
const NOISE = 1e-9

/** Longer than any amount that is accepted. */
const LONGEST = 60

function roundingOf(field: string, sent: unknown): Warning[] {
  const text = typeof sent === 'number' ? String(sent) : sent
  if (typeof text !== 'string' || text.length > LONGEST || !/^\d+\.\d{6}\d*[1-9]\d*$/.test(text)) return []
  const stored = toSixPlaces(text)
  if (typeof sent === 'number' && Math.abs(sent - Number(stored)) < NOISE) return []
  const message = `${text} was rounded to ${stored}, because amounts have 6 decimals.`
  return [{ code: 'amount_rounded', field, message }]
}
