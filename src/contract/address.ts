/**
 * Addresses that people enter: redirects, offers, postbacks. They are http or https, without user and password. Macros such as `{click_id}` may stand
 * only after the host, because a macro's value comes from visitors and must never choose where a request goes.
 */
import { z } from 'zod'
import { isFaithful, SUBS } from './fields.ts'
import { telegramLink } from './telegram.ts'

/** The macros of addresses for visitors. Any other `{name}` is removed: a literal macro would mean nothing to the target. */
export const MACROS = [
  'click_id',
  'campaign_id',
  'offer_id',
  'landing_id',
  ...SUBS,
  'ref_id',
  'geo',
  'device',
  'os',
  'browser',
  'timestamp',
] as const

/** Macros in braces, with the nine subs as a range. */
export function macroList(names: readonly string[]): string {
  return names
    .filter(name => !/^sub[2-9]$/.test(name))
    .map(name => (name === 'sub1' ? '{sub1}…{sub9}' : `{${name}}`))
    .join(' ')
}

/** The macros of addresses for visitors, as texts name them. */
export const VISIT_MACROS = macroList(MACROS)

const ADDRESS_LENGTH = 2048

const PARTS = /^(https?:\/\/)([^/?#]*)(.*)$/is
// URL parsers drop tabs and line breaks, and read a backslash as a slash, so the address called would differ from the one checked.
const AMBIGUOUS = /[\s\\\p{Cc}]/u

/** The fault of an address, as the end of a sentence about it. Undefined for a good one. */
export function faultOfAddress(text: string): string | undefined {
  if (!isFaithful(text) || AMBIGUOUS.test(text)) return 'must not hold spaces, backslashes or control characters'
  const [, scheme = '', host = ''] = PARTS.exec(text) ?? []
  if (scheme === '') return 'must begin with http:// or https://'
  if (host.includes('@')) return 'must not hold a user name or password'
  if (/[{}]/.test(host)) return 'may hold macros only behind the host'
  const url = URL.parse(text)
  if (url === null || url.hostname === '' || url.origin !== URL.parse(scheme + host)?.origin) return 'is not an address'
  return undefined
}

/** An address as a caller sends it: trimmed, at most 2048 characters. */
export const Address = z
  .string()
  .trim()
  .max(ADDRESS_LENGTH)
  .superRefine((text, context) => {
    const fault = faultOfAddress(text)
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault })
  })
  .meta({
    description: 'http or https address; macros such as {click_id} behind the host',
    examples: ['https://example.com/?c={click_id}'],
  })

/** The unknown macros of a saved address. */
export const UnknownMacros = z
  .array(z.string())
  .meta({ description: 'Macros in its addresses that do not exist and are left out' })

/** An address with example values for its macros. */
export const Preview = z
  .object({
    url: z.string(),
    unknown_macros: z
      .array(z.string())
      .meta({ description: 'Macros that do not exist and are removed from the address' }),
  })
  .meta({ id: 'AddressPreview' })

/** The address that starts a bot with the click id; `{click_id}` is a macro. `username` is without @. */
export const startLink = (username: string): string => telegramLink(username, { type: 'bot' }).url
