// Reads a click's query: the source's click id, sub1 to sub9, the ad platforms' click ids, and the cost if the campaign reads it. No
// query can fail a click: values that cannot be stored are left out, and the others are stored.
import { unescape } from 'node:querystring'
import { AD_IDS, type AdId, type AdPlatform, CLICK_IDS } from '../../contract/ad-platforms.ts'
import { cut, faithful, TEXT_BYTES } from '../../contract/texts.ts'
import { isUnreplaced } from '../../contract/unreplaced.ts'
import { SOURCE_FIELDS } from '../../traffic/campaigns/api.ts'

type TextField = (typeof SOURCE_FIELDS)[number]
/** Read only for campaigns whose links carry the cost of a click. */
const COST_FIELDS = ['cost', 'currency'] as const
type CostField = (typeof COST_FIELDS)[number]
type Field = TextField | AdId

/** Our field, and the name a campaign's traffic source sends it under. */
type SourceNames = { readonly [F in TextField | CostField]?: string | undefined }

/** Our field, and the macro in the campaign link that the source replaces. Constants are not macros. */
type Macros = ReadonlyMap<string, string>

/** The fields of a click from its query; null if not sent or not replaced. Cost and currency as sent. */
export type Parameters = ClickFields & { [F in CostField]?: string | null }
type ClickFields = Record<Field, string | null>

/** A field that a parameter fills, under the field's own name or the source's. The own name goes first. */
type FilledField = { readonly field: Field | CostField; readonly own: boolean }

const AD_ID_LENGTH = 512
const AD_ID = /^[\x21-\x7e]+$/
const textFields: ReadonlySet<string> = new Set([...SOURCE_FIELDS, ...COST_FIELDS])

const ownNames = new Map<string, readonly FilledField[]>(
  [...SOURCE_FIELDS, ...AD_IDS].map(field => [field, [{ field, own: true }]]),
)

/** Called for each value sent for a field, with what is stored of it (null: nothing). A query may repeat a field. */
type ValueListener = (field: string, parameter: string, sent: string, kept: string | null) => void

/** Reads the query of a visit's URL as Node gives it: everything after the first `?`. */
export type ParameterReader = (url: string, onValue?: ValueListener) => Parameters

/**
 * A reader for one campaign; `withCost` if its links carry the cost of a click. With the macros of a traffic source, a value that equals the
 * field's macro in any encoding counts as not sent, and a click id that is too long is dropped instead of cut, because the source would not know
 * half of it.
 */
export function parameterReader(
  source: SourceNames,
  { macros, withCost = false }: { macros?: Macros | undefined; withCost?: boolean } = {},
): ParameterReader {
  const unfilled = macros && macroForms(macros)
  const names = new Map(ownNames)
  if (withCost) for (const field of COST_FIELDS) names.set(field, [{ field, own: true }])
  for (const field of withCost ? [...SOURCE_FIELDS, ...COST_FIELDS] : SOURCE_FIELDS) {
    const name = source[field]
    if (name !== undefined && name !== field) names.set(name, [...(names.get(name) ?? []), { field, own: false }])
  }
  return (url, onValue) => readParameters(url, names, unfilled, onValue)
}

/** By field, the forms in which an unreplaced macro may arrive: as written, and decoded once more. */
type MacroForms = ReadonlyMap<string, readonly string[]>

const macroForms = (macros: Macros): MacroForms =>
  new Map(Array.from(macros, ([field, macro]) => [field, [macro, decoded(macro)].map(faithful)]))

function readParameters(
  url: string,
  names: ReadonlyMap<string, readonly FilledField[]>,
  unfilled: MacroForms | undefined,
  onValue: ValueListener | undefined,
): Parameters {
  const found: Parameters = noParameters()
  let start = url.indexOf('?') + 1
  if (start === 0) return found
  const hash = url.indexOf('#', start)
  const query = asUtf8(hash < 0 ? url.slice(start) : url.slice(start, hash))
  let fromSource: Parameters | undefined
  start = 0
  while (start < query.length) {
    let end = query.indexOf('&', start)
    if (end < 0) end = query.length
    const equals = query.indexOf('=', start)
    if (equals >= 0 && equals < end) {
      const second = secondQuery(query, equals + 1, end, names)
      if (second !== undefined) end = second
      const name = nameAt(query, start, equals)
      const fills = names.get(name)
      if (fills !== undefined) {
        const value = decoded(query.slice(equals + 1, end))
        for (const { field, own } of fills) {
          const target: Parameters = own ? found : (fromSource ??= noParameters())
          // The first usable value counts: an unreplaced {gclid} in the address must not hide the one auto-tagging appends.
          target[field] ??= textFields.has(field) ? text(value, field, unfilled) : adId(value)
          onValue?.(field, name, value, target[field] ?? null)
        }
      }
    }
    start = end + 1
  }
  if (fromSource !== undefined) {
    for (const field of SOURCE_FIELDS) found[field] ??= fromSource[field]
    for (const field of COST_FIELDS) if (fromSource[field] !== undefined) found[field] ??= fromSource[field]
  }
  return found
}

/** The fields of a click without a query. One literal, so that all clicks share one object shape. */
export function noParameters(): ClickFields {
  return {
    ref_id: null,
    sub1: null,
    sub2: null,
    sub3: null,
    sub4: null,
    sub5: null,
    sub6: null,
    sub7: null,
    sub8: null,
    sub9: null,
    fbclid: null,
    gclid: null,
    gbraid: null,
    wbraid: null,
    ttclid: null,
  }
}

/** Node gives each byte of a request line as a character; a source that does not percent-encode sends UTF-8. */
function asUtf8(query: string): string {
  for (let at = 0; at < query.length; at += 1) {
    const code = query.charCodeAt(at)
    if (code > 0xff) return query
    if (code > 0x7f) return Buffer.from(query, 'latin1').toString('utf8')
  }
  return query
}

/** A parameter's name, without the `?` or `amp;` that pasted-together URLs put before it. */
function nameAt(query: string, start: number, end: number): string {
  const name = query.slice(start, end)
  const plain = name.includes('%') || name.includes('+') ? decoded(name) : name
  return plain.startsWith('?') || plain.startsWith('amp;') ? plain.replace(/^(\?|amp;)+/, '') : plain
}

const QUESTION = 0x3f
const EQUALS = 0x3d

/** The place of a second `?` in a value with a known parameter after it: an ad platform's parameters pasted after ours. */
function secondQuery(
  query: string,
  start: number,
  end: number,
  names: ReadonlyMap<string, unknown>,
): number | undefined {
  // Finds the nearest `?` before each `=` in one pass, so that a query with thousands of either blocks nobody.
  const first = query.indexOf('?', start)
  let mark = -1
  for (let at = first < 0 ? end : first; at < end; at += 1) {
    const code = query.charCodeAt(at)
    if (code === QUESTION) mark = at
    if (code !== EQUALS || mark < 0) continue
    if (names.has(query.slice(mark + 1, at))) return mark
    mark = -1
  }
  return undefined
}

/** A raw macro such as `%campaign%`, whose `%ca` would be decoded as a byte. No encoded text ends with `%`. */
const BETWEEN_PERCENTS = /^%[a-z_]+%$/i

/** Percent-decoding that never fails: invalid UTF-8 becomes U+FFFD. */
function decoded(text: string): string {
  if (text.startsWith('%') && BETWEEN_PERCENTS.test(text)) return text
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  return spaced.includes('%') ? unescape(spaced) : spaced
}

function text(value: string, field: string, unfilled: MacroForms | undefined): string | null {
  const kept = faithful(value)
  if (isUnreplaced(kept) || unfilled?.get(field)?.includes(kept) === true) return null
  const short = cut(kept, TEXT_BYTES)
  return unfilled !== undefined && field === 'ref_id' && short !== kept ? null : short
}

function adId(value: string): string | null {
  return value.length <= AD_ID_LENGTH && AD_ID.test(value) && !isUnreplaced(value) ? value : null
}

const platforms = Object.entries(CLICK_IDS) as [AdPlatform, readonly AdId[]][]

/** The ad platform whose click id the click has. */
export function platformOf(parameters: Parameters): AdPlatform | null {
  for (const [platform, ids] of platforms) if (ids.some(id => parameters[id] !== null)) return platform
  return null
}
