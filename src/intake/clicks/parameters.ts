// What a click's query says: the source's click id, sub1 to sub9, the ad platforms' click ids, and where the campaign asks, the cost. Nothing that a visitor's
// browser or an ad platform puts there can fail a click: what cannot be stored is left out, and the rest is kept.
import { unescape } from 'node:querystring'
import { AD_IDS } from '../../contract/fields.ts'
import { cut, faithful, TEXT_BYTES } from '../../contract/texts.ts'
import { SOURCE_FIELDS } from '../../traffic/campaigns/api.ts'

type Text = (typeof SOURCE_FIELDS)[number]
type AdId = (typeof AD_IDS)[number]
/** What is read only of campaigns whose links say what a click costs. */
const COST_FIELDS = ['cost', 'currency'] as const
type CostField = (typeof COST_FIELDS)[number]
type Field = Text | AdId

/** Our field, and the name a campaign's traffic source sends it under. */
type Source = { readonly [F in Text | CostField]?: string | undefined }

/** Our field, and what stands in the address for the source to replace; a constant is none. */
type Macros = ReadonlyMap<string, string>

/** The fields of a click that come from its query; null for what was not sent or not replaced. Cost and currency as they were sent. */
export type Parameters = Plain & { [F in CostField]?: string | null }
type Plain = Record<Field, string | null>

/** Which fields a parameter may fill: under its own name first, else under the source's. */
type Fills = { readonly field: Field | CostField; readonly own: boolean }

const AD_ID_LENGTH = 512
const AD_ID = /^[\x21-\x7e]+$/
const textFields: ReadonlySet<string> = new Set([...SOURCE_FIELDS, ...COST_FIELDS])

const ownNames = new Map<string, readonly Fills[]>(
  [...SOURCE_FIELDS, ...AD_IDS].map(field => [field, [{ field, own: true }]]),
)

/** Told of each value that came for a field, as it was sent and as it is kept, null where it cannot be; it may come again in the same query. */
type Heard = (field: string, parameter: string, sent: string, kept: string | null) => void

/** Reads the query of a visit's url as Node gives it, with everything behind the first `?`. */
export type ParameterReader = (url: string, heard?: Heard) => Parameters

/**
 * A reader for one campaign; `withCost` where its links say what a click costs. With the macros of a traffic source, a value that is the
 * field's own macro is unfilled, however it is spelled; and a click id that is longer than what is kept is none, because nobody can be told of
 * half of it.
 */
export function parameterReader(
  source: Source,
  { macros, withCost = false }: { macros?: Macros | undefined; withCost?: boolean } = {},
): ParameterReader {
  const unfilled = macros && spellings(macros)
  const names = new Map(ownNames)
  if (withCost) for (const field of COST_FIELDS) names.set(field, [{ field, own: true }])
  for (const field of withCost ? [...SOURCE_FIELDS, ...COST_FIELDS] : SOURCE_FIELDS) {
    const name = source[field]
    if (name !== undefined && name !== field) names.set(name, [...(names.get(name) ?? []), { field, own: false }])
  }
  return (url, heard) => readParameters(url, names, unfilled, heard)
}

/** By field, what a macro may have become on its way here, decoded once more. */
type Unfilled = ReadonlyMap<string, readonly string[]>

const spellings = (macros: Macros): Unfilled =>
  new Map(Array.from(macros, ([field, macro]) => [field, [macro, decoded(macro)].map(faithful)]))

function readParameters(
  url: string,
  names: ReadonlyMap<string, readonly Fills[]>,
  unfilled: Unfilled | undefined,
  heard: Heard | undefined,
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
          heard?.(field, name, value, target[field] ?? null)
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

/** What a click without a query has. One shape for all, made in one go. */
export function noParameters(): Plain {
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

/** Node gives the bytes of a request line as characters; a source that does not percent-encode sends UTF-8. */
function asUtf8(query: string): string {
  for (let at = 0; at < query.length; at += 1) {
    const code = query.charCodeAt(at)
    if (code > 0xff) return query
    if (code > 0x7f) return Buffer.from(query, 'latin1').toString('utf8')
  }
  return query
}

/** A parameter's name; `?` and `amp;` before it come from addresses that were pasted together. */
function nameAt(query: string, start: number, end: number): string {
  const name = query.slice(start, end)
  const plain = name.includes('%') || name.includes('+') ? decoded(name) : name
  return plain.startsWith('?') || plain.startsWith('amp;') ? plain.replace(/^(\?|amp;)+/, '') : plain
}

const QUESTION = 0x3f
const EQUALS = 0x3d

/** Where a value holds a second `?` with a known parameter behind it (an ad platform's parameters pasted after ours), that place. */
function secondQuery(
  query: string,
  start: number,
  end: number,
  names: ReadonlyMap<string, unknown>,
): number | undefined {
  // The nearest `?` before each `=`, in one pass: thousands of either must not hold up the other visitors.
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

/** A macro whose first letters are taken for a byte where it stands raw, as in `%campaign%`. No encoded text ends like this. */
const BETWEEN_PERCENTS = /^%[a-z_]+%$/i

/** Percent-decoding that never fails: bytes that are no UTF-8 become U+FFFD. */
function decoded(text: string): string {
  if (text.startsWith('%') && BETWEEN_PERCENTS.test(text)) return text
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  return spaced.includes('%') ? unescape(spaced) : spaced
}

// Only what is nobody's value: `(direct)` and `-x-` are macros of some sources, and names of placements elsewhere.
const UNREPLACED =
  /^(?:[$%]?\{.*\}|\[{1,2}[+:]?[a-z_. -]+[+:]?\]{1,2}|__[a-z0-9_]+__|#{1,3}[a-z0-9_]+(?:\([a-z0-9_]*\))?#{1,3}|@@[a-z0-9_-]+@@|\$\$[a-z0-9_]+\$\$|%[a-z_]+%|\(S_[a-z_]+\)|null|undefined)$/is

/** Macros without any mark, word for word: of Popvertising, JumpTap, TapGage and StartApp. */
const PLAIN_MACROS: ReadonlySet<string> = new Set([
  '-source-',
  '-catname-',
  'JT_ADBUNDLE',
  'JT_KEYWORD',
  'TAPGAGE_VAR_SITEID',
  'TAPGAGE_VAR_CLICKID',
  'startapp_pub_id',
  'startapp_click_id_placeholder',
  'campaign_id',
  'creative_name',
  'bid_cost',
])

/** What a source sends that has no value: no fault of the address. */
export const NOTHING: ReadonlySet<string> = new Set(['', 'null', 'undefined'])

/** Whether a source has sent its macro instead of the macro's value. */
export function isUnreplaced(value: string): boolean {
  return value === '' || UNREPLACED.test(value) || PLAIN_MACROS.has(value)
}

function text(value: string, field: string, unfilled: Unfilled | undefined): string | null {
  const kept = faithful(value)
  if (isUnreplaced(kept) || unfilled?.get(field)?.includes(kept) === true) return null
  const short = cut(kept, TEXT_BYTES)
  return unfilled !== undefined && field === 'ref_id' && short !== kept ? null : short
}

function adId(value: string): string | null {
  return value.length <= AD_ID_LENGTH && AD_ID.test(value) && !isUnreplaced(value) ? value : null
}

/** The ad platform a click came from, by the click id it carries. */
export function platformOf(parameters: Parameters): 'meta' | 'google' | 'tiktok' | null {
  if (parameters.fbclid !== null) return 'meta'
  if (parameters.gclid !== null || parameters.gbraid !== null || parameters.wbraid !== null) return 'google'
  return parameters.ttclid === null ? null : 'tiktok'
}
