/** Templates of traffic sources, with their evidence. A template is copied into a new source, and later changes here do not change that source. */
import type { SUBS } from '../fields.ts'

/** The fields of a click that a source fills: its own click id, the subs and the cost. */
type SourceField = 'ref_id' | (typeof SUBS)[number] | 'cost' | 'currency'

/**
 * A field, its macro in the address (null: the source appends the parameter by itself), its label on the screen (null: the field's), and its parameter
 * (by default the field's name).
 */
type TemplateParameter = readonly [field: SourceField, macro: string | null, label?: string | null, parameter?: string]

export type SourceTemplate = {
  readonly name: string
  readonly kind: 'platform' | 'native' | 'mobile' | 'push' | 'pop' | 'adult' | 'telegram'
  readonly parameters: readonly TemplateParameter[]
  /** Whether the cost in the address is for one click or for a thousand. */
  readonly cost_unit?: 'cpc' | 'cpm'
  readonly cost_currency?: string
  /** The address for reporting conversions to the source. Parts that begin with YOUR_ come from the advertiser's account there. */
  readonly postback?: string
  /** What separates the values of its blacklist, where that is known to be commas instead of lines. */
  readonly blacklist?: 'commas'
  readonly evidence: string
  /** Set if the evidence is another tracker's template instead of the source's own documentation. */
  readonly from?: 'tracker'
}

/** Evidence: other trackers' templates, as published in these repositories. */
export const KEITARO = 'https://github.com/fenjo26/Orbitra.link/tree/d03673b'
export const CLICKERVOLT = 'https://github.com/vmlinz/clickervolt'
