// Previews of addresses, filled with the values of a made-up click.
import { eachSub } from '../../contract/fields.ts'
import { refuse } from '../../contract/refusals.ts'
import { compileTemplate, type MacroValues } from './macros.ts'

/** The values of a made-up click. */
export const EXAMPLE: MacroValues = {
  click_id: '01jb2k7q4nf7mrk0t5c8h3v9xz',
  campaign_id: '01jazt5y0qfk8a2m4n6p8r0s2t',
  offer_id: '01jazt5y0qfk8a2m4n6p8r0s3v',
  landing_id: '01jazt5y0qfk8a2m4n6p8r0s4w',
  ...eachSub(sub => sub),
  ref_id: 'ref-id',
  geo: 'DE',
  device: 'mobile',
  os: 'Android',
  browser: 'Chrome',
  timestamp: '1767225600',
}

/** The unknown macros of the addresses, each once. */
export function unknownMacros(...addresses: readonly (string | null)[]): string[] {
  return [...new Set(addresses.flatMap(address => compileTemplate(address ?? '')?.unknown ?? []))]
}

/** The address with its macros filled, and its unknown macros. Refuses `invalid_request` if it is no usable address. */
export function previewOf(address: string): { url: string; unknown_macros: string[] } {
  const template = compileTemplate(address)
  if (template === undefined) refuse('invalid_request', { error: 'url: is not an address' })
  return { url: template.fill(EXAMPLE), unknown_macros: [...new Set(template.unknown)] }
}
