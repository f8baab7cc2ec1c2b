/**
 * Warnings in a successful answer: the change was made, but may not be what was meant. A warning mentions only what this request sent or caused, so that
 * a key learns nothing about earlier values.
 */
import { z } from 'zod'

const WARNING_CODES = [
  'unknown_macros',
  'literal_macros',
  'unknown_country',
  'matches_nobody',
  'day_in_future',
  'no_clicks',
  'day_not_in_window',
  'not_an_id',
  'no_fallback',
  'all_campaigns',
  'amount_rounded',
  'payout_differs',
  'payload_not_read',
  'field_cleared',
  'payout_currency_cleared',
  'rate_unknown',
  'channel_not_ready',
  'bot_revoked',
  'zone_shifted',
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

/** The warnings of an address: `unknown` macros, which are left out of it, and macros of other programs, which are sent as they stand. */
export function addressWarnings(field: string, address: string | null, unknown: readonly string[]): Warning[] {
  return [...macroWarnings(field, unknown), ...literalWarnings(field, address ?? '')]
}

function macroWarnings(field: string, unknown: readonly string[]): Warning[] {
  if (unknown.length === 0) return []
  const names = unknown.slice(0, 5).map(name => `{${name}}`)
  const more = unknown.length > names.length ? ` and ${unknown.length - names.length} more` : ''
  const [verb, pronoun] = unknown.length === 1 ? ['is no macro', 'is'] : ['are no macros', 'are']
  const message = `${names.join(', ')}${more} ${verb} of Sluice and ${pronoun} left out of the address. Correct the name, or remove it.`
  return [{ code: 'unknown_macros', field, message }]
}

/** Whole values in the form of another program's macro. Real values such as `[1]`, `50%` or `$5` are none. */
const LITERAL =
  /(?<=[=/])(?:\[{1,2}[a-z][\w.-]*\]{1,2}|%[a-z]\w+%|__[a-z]\w*?__|@@[a-z][\w-]*@@|\$\$?[a-z]\w*\$\$?|<[a-z][\w.-]*>|[$%]\{[a-z][\w.:-]*\}%?)(?=[&/#?]|$)/gi

function literalWarnings(field: string, address: string): Warning[] {
  const found = [...new Set(address.match(LITERAL))].slice(0, 5)
  if (found.length === 0) return []
  const message = `${found.join(', ')} ${found.length === 1 ? 'is' : 'are'} sent as written, because macros of Sluice stand in single braces alone. Write {click_id} for the click id.`
  return [{ code: 'literal_macros', field, message }]
}
