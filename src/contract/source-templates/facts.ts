/** What is known of a traffic source, and where from. Copied into a source when one is made from it, and never changed there afterwards. */
import type { SUBS } from '../fields.ts'

/** What of a click's query a source fills: its own click id, the subs, and what the click cost. */
type SourceField = 'ref_id' | (typeof SUBS)[number] | 'cost' | 'currency'

/**
 * A field, the macro that stands for it in the address (null: the source appends the parameter by itself), what it is called on the screen
 * (null: by its field), and under which name it arrives (the field's own, unless given).
 */
type Fill = readonly [field: SourceField, macro: string | null, label?: string | null, parameter?: string]

export type Facts = {
  readonly name: string
  readonly kind: 'platform' | 'native' | 'mobile' | 'push' | 'pop' | 'adult' | 'telegram'
  readonly parameters: readonly Fill[]
  /** What an amount in the address is: of one click, or of a thousand. */
  readonly cost_unit?: 'cpc' | 'cpm'
  readonly cost_currency?: string
  /** The address that its optimiser is told conversions by. What begins with YOUR_ is of the advertiser's own account there. */
  readonly postback?: string
  readonly evidence: string
  /** Who says so: the source itself, unless it is another tracker's template. */
  readonly from?: 'tracker'
}

/** Another tracker's templates, as an importer of them holds them. */
export const KEITARO = 'https://github.com/fenjo26/Orbitra.link/tree/d03673b'
export const CLICKERVOLT = 'https://github.com/vmlinz/clickervolt'
