/**
 * The HTML of Telegram's messages (core.telegram.org/bots/api#html-style): few tags, closed in order, four named entities. It is parsed as Telegram
 * does, so that a fault is reported before anything is sent, and a preview shows what arrives.
 */

/** A text, or a tag with its contents. Only links have `href`. */
export type Piece = string | { readonly tag: string; readonly href?: string; readonly inside: readonly Piece[] }

/** `length` counts the visible text in UTF-16 units, as Telegram's limits do. */
type ReadHtml = { readonly pieces: readonly Piece[]; readonly length: number } | { readonly fault: string }

/** Tags with the same meaning have one name. */
const TAGS: Readonly<Record<string, string>> = {
  b: 'b',
  strong: 'b',
  i: 'i',
  em: 'i',
  u: 'u',
  ins: 'u',
  s: 's',
  strike: 's',
  del: 's',
  a: 'a',
  code: 'code',
  pre: 'pre',
  blockquote: 'blockquote',
  span: 'spoiler',
  'tg-spoiler': 'spoiler',
  'tg-emoji': 'emoji',
}

const TOKEN = /<(\/?)([a-zA-Z][\w-]*)((?:[^<>"']|"[^"]*"|'[^']*')*)>/y
const ATTRIBUTE = /([a-z-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+)))?/gi
const ENTITY = /&(lt|gt|amp|quot|#\d{1,7}|#x[\da-f]{1,6});/gi
const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' }

/** `written` is the tag's name in the text. */
type OpenTag = { tag: string; written: string; href: string | undefined; inside: Piece[] }

/** Parses a text. A fault is a sentence for its author. */
export function readHtml(html: string): ReadHtml {
  const top: OpenTag = { tag: '', written: '', href: undefined, inside: [] }
  const open: OpenTag[] = [top]
  let length = 0
  let at = 0
  while (at < html.length) {
    const here = open.at(-1) ?? top
    const next = html.indexOf('<', at)
    const text = unescaped(html.slice(at, next === -1 ? undefined : next))
    if (text !== '') here.inside.push(text)
    length += text.length
    if (next === -1) break
    TOKEN.lastIndex = next
    const [whole = '', slash, written = '', rest = ''] = TOKEN.exec(html) ?? []
    if (whole === '') return { fault: `"${html.slice(next, next + 12)}" is no tag: write &lt; for a < in the text` }
    at = next + whole.length
    if (slash === '/') {
      const fault = closeTag(open, written.toLowerCase())
      if (fault !== undefined) return { fault }
      continue
    }
    const tag = openTag(written.toLowerCase(), rest)
    if (typeof tag === 'string') return { fault: tag }
    open.push(tag)
  }
  const left = open.at(-1)
  if (left !== undefined && left !== top)
    return { fault: `<${left.written}> is not closed: </${left.written}> is missing` }
  return { pieces: top.inside, length }
}

function closeTag(open: OpenTag[], written: string): string | undefined {
  const last = open.at(-1)
  if (open.length < 2 || last === undefined) return `</${written}> closes nothing`
  if (last.written !== written) return `</${last.written}> must come before </${written}>`
  open.pop()
  const { tag, href, inside } = last
  open.at(-1)?.inside.push(href === undefined ? { tag, inside } : { tag, href, inside })
  return undefined
}

/** The opened tag, or the fault of it. */
function openTag(written: string, rest: string): OpenTag | string {
  const tag = TAGS[written]
  if (tag === undefined)
    return `Telegram has no tag <${written}>; it has b, i, u, s, a, code, pre, blockquote and tg-spoiler`
  const attributes = new Map<string, string>()
  for (const [, name = '', ...values] of rest.matchAll(ATTRIBUTE))
    attributes.set(name.toLowerCase(), unescaped(values.slice(0, 3).find(value => value !== undefined) ?? ''))
  if (written === 'span' && attributes.get('class') !== 'tg-spoiler') return '<span> needs class="tg-spoiler"'
  if (written === 'tg-emoji' && !/^\d+$/.test(attributes.get('emoji-id') ?? '')) return '<tg-emoji> needs emoji-id'
  return { tag, written, href: tag === 'a' ? attributes.get('href') : undefined, inside: [] }
}

const unescaped = (text: string): string =>
  text.replace(ENTITY, (whole, name: string) => {
    const named = NAMED[name.toLowerCase()]
    if (named !== undefined) return named
    const code = name[1]?.toLowerCase() === 'x' ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
    return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole
  })

/** Escapes a text for HTML. */
export const escapedHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
