/**
 * Warnings in a successful answer: the change was made, but may not be what was meant. A warning mentions only what this request sent or caused, so that
 * a key learns nothing about earlier values.
 */
import { z } from 'zod'

const WARNING_CODES = [
  'unknown_macros',
  'unknown_country',
  'matches_nobody',
  'day_in_future',
  'day_not_in_window',
  'not_an_id',
  'no_fallback',
  'all_campaigns',
  'payout_differs',
  'payload_not_read',
  'field_cleared',
  'payout_currency_cleared',
  'rate_unknown',
  'channel_not_ready',
  'bot_revoked',
] as const

const Warning = z
  .object({
    code: z.string().meta({ description: 'What is wrong, for programs', examples: [...WARNING_CODES] }),
    field: z.string().meta({ description: 'The field it is about' }),
    message: z.string().meta({ description: 'What is wrong and what to do' }),
  })
  .meta({ id: 'Warning' })
export type Warning = z.output<typeof Warning> & { readonly code: (typeof WARNING_CODES)[number] }

/** The warnings of a write; empty if there are none. */
export const Warnings = z
  .array(Warning)
  .meta({ description: 'Effects of the request that may not be intended; empty if there are none' })

/** A warning that unknown macros are left out of an address; none if all macros are known. */
export function macroWarnings(field: string, unknown: readonly string[]): Warning[] {
  if (unknown.length === 0) return []
  const names = unknown.slice(0, 5).map(name => `{${name}}`)
  const more = unknown.length > names.length ? ` and ${unknown.length - names.length} more` : ''
  const [verb, pronoun] = unknown.length === 1 ? ['is no macro', 'is'] : ['are no macros', 'are']
  const message = `${names.join(', ')}${more} ${verb} of Sluice and ${pronoun} left out of the address. Correct the name, or remove it.`
  return [{ code: 'unknown_macros', field, message }]
}
