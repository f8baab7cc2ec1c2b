// The macros in the addresses of redirects, fallbacks, offers and landings. An address is compiled once and filled per click. Values come from
// visitors, so they are percent-encoded, and macros are not allowed in scheme, host or port.
import { domainToASCII } from 'node:url'
import { MACROS } from '../../contract/address.ts'

type Macro = (typeof MACROS)[number]

/** The value of every macro: ids as on the wire, `timestamp` in Unix seconds. Null fills in nothing. No macro can be left out. */
export type MacroValues = { readonly [M in Macro]: string | null }

/** A compiled address. `fill` returns an address fit for a Location header; `unknown` are the macros that it removes. */
export type AddressTemplate = {
  readonly macros: readonly Macro[]
  readonly unknown: readonly string[]
  fill(values: MacroValues): string
}

const macroNames: ReadonlySet<string> = new Set(MACROS)
const isMacro = (name: string): name is Macro => macroNames.has(name)

const PARTS = /^(https?:\/\/)([^/?#\\\s{}]+)((?:[/?#].*)?)$/is
// Also matches percent-encoded braces, which some editors write.
const MACRO = /(?:\{|%7b){1,2}([a-z][a-z0-9_.]{0,63})(?:\}|%7d){1,2}/gi
const UNSAFE = /[^\x21-\x7e]+/g

/** Compiles an address. Returns undefined if it is not http or https, or has no plain host. */
export function compileTemplate(address: string): AddressTemplate | undefined {
  const [, scheme = '', authority = '', rest = ''] = PARTS.exec(address.trim()) ?? []
  const host = asciiAuthority(authority)
  if (host === undefined) return undefined
  const literals: string[] = [scheme.toLowerCase() + host]
  const macros: Macro[] = []
  const unknown: string[] = []
  let from = 0
  for (const match of rest.matchAll(MACRO)) {
    const name = (match[1] ?? '').toLowerCase()
    literals[macros.length] += asciiOf(rest.slice(from, match.index))
    from = match.index + match[0].length
    if (!isMacro(name)) {
      unknown.push(name)
      continue
    }
    macros.push(name)
    literals.push('')
  }
  literals[macros.length] += asciiOf(rest.slice(from))
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

/** Percent-encodes everything but printable ASCII, because a header holds nothing else. */
function asciiOf(text: string): string {
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
