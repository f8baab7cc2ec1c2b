// The macros in addresses that visitors are sent to: redirects, fallbacks, offers, landings. An address is compiled once and filled in per
// click. Values come from visitors, so they are percent-encoded and never stand in scheme, host or port.
import { domainToASCII } from 'node:url'
import { SUBS } from '../../contract/fields.ts'

/** The macros there are. Any other `{name}` is removed, because what stands behind it would not be understood there anyway. */
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

type Macro = (typeof MACROS)[number]

/** What macros stand for: ids as on the wire, `timestamp` in Unix seconds. Null is empty; none may be forgotten where clicks lead on. */
export type MacroValues = { readonly [M in Macro]: string | null }

/** A compiled address. `fill` answers an address fit for a Location header; `unknown` are the macros it leaves out. */
export type Template = {
  readonly macros: readonly Macro[]
  readonly unknown: readonly string[]
  fill(values: MacroValues): string
}

const known: ReadonlySet<string> = new Set(MACROS)
const isMacro = (name: string): name is Macro => known.has(name)

const PARTS = /^(https?:\/\/)([^/?#\\\s{}]+)((?:[/?#].*)?)$/is
// Some editors percent-encode the braces; unless they are understood, the macro never fills in.
const MACRO = /(?:\{|%7b){1,2}([a-z][a-z0-9_.]{0,63})(?:\}|%7d){1,2}/gi
const UNSAFE = /[^\x21-\x7e]+/g

/** Compiles an address, or answers undefined for one that nobody can be sent to: not http or https, or without a plain host. */
export function compileTemplate(address: string): Template | undefined {
  const [, scheme = '', authority = '', rest = ''] = PARTS.exec(address.trim()) ?? []
  const host = asciiAuthority(authority)
  if (host === undefined) return undefined
  const literals: string[] = [scheme.toLowerCase() + host]
  const macros: Macro[] = []
  const unknown: string[] = []
  let from = 0
  for (const match of rest.matchAll(MACRO)) {
    const name = (match[1] ?? '').toLowerCase()
    literals[macros.length] += safe(rest.slice(from, match.index))
    from = match.index + match[0].length
    if (!isMacro(name)) {
      unknown.push(name)
      continue
    }
    macros.push(name)
    literals.push('')
  }
  literals[macros.length] += safe(rest.slice(from))
  return { macros, unknown, fill: values => fill(literals, macros, values) }
}

function fill(literals: readonly string[], macros: readonly Macro[], values: MacroValues): string {
  let out = literals[0] ?? ''
  for (let at = 0; at < macros.length; at += 1) {
    const value = values[macros[at] as Macro]
    if (value) out += encodeURIComponent(value.toWellFormed())
    out += literals[at + 1]
  }
  return out
}

/** A header holds ASCII only, so what an address bar would encode is encoded here. */
function safe(text: string): string {
  return text.toWellFormed().replace(UNSAFE, encodeURIComponent)
}

function asciiAuthority(authority: string): string | undefined {
  const [host = '', port, ...more] = authority.startsWith('[') ? [authority] : authority.split(':')
  if (host === '' || host.includes('@') || more.length > 0 || (port !== undefined && !/^\d{0,5}$/.test(port)))
    return undefined
  if (host.startsWith('[')) return URL.canParse(`http://${host}/`) ? host : undefined
  const ascii = domainToASCII(host)
  if (ascii === '') return undefined
  return port ? `${ascii}:${port}` : ascii
}
