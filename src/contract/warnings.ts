/**
 * What is said beside a good answer: it was done, and may not be what was meant. A warning speaks of what this write has sent or brought
 * about, so that it tells a key nothing that stood there before.
 */
import { z } from 'zod'

/** What there is to warn of. */
const WARNING_CODES = [
  'unknown_macros',
  'unknown_country',
  'day_in_future',
  'day_not_in_window',
  'no_fallback',
  'payout_differs',
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

/** The warnings of a write; empty when there is nothing to say. */
export const Warnings = z
  .array(Warning)
  .meta({ description: 'What was done and may not be what was meant; empty when nothing is' })

/** What an address loses of what was written in it; nothing for one without unknown macros. */
export function macroWarnings(field: string, unknown: readonly string[]): Warning[] {
  if (unknown.length === 0) return []
  const names = unknown.slice(0, 5).map(name => `{${name}}`)
  const more = unknown.length > names.length ? ` and ${unknown.length - names.length} more` : ''
  const [verb, pronoun] = unknown.length === 1 ? ['is no macro', 'is'] : ['are no macros', 'are']
  const message = `${names.join(', ')}${more} ${verb} of Sluice and ${pronoun} left out of the address. Correct the name, or remove it.`
  return [{ code: 'unknown_macros', field, message }]
}
