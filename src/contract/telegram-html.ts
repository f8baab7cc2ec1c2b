/**
 * The HTML of Telegram's messages (core.telegram.org/bots/api#html-style): few tags, closed in their order, four entities by name. Read here as
 * Telegram reads it, so that a fault is said before anything is sent, and a preview shows what arrives.
 */

/** A text, or what a tag holds. `href` of links alone. */
export type Piece = string | { readonly tag: string; readonly href?: string; readonly inside: readonly Piece[] }

/** `length` is that of what is shown, in the units Telegram's limits count: UTF-16. */
type ReadHtml = { readonly pieces: readonly Piece[]; readonly length: number } | { readonly fault: string }

/** Tags that mean the same have one name. */
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

type Open = { tag: string; said: string; href: string | undefined; inside: Piece[] }

/** Reads it; a fault is said in a sentence for whoever wrote the text. */
export function readHtml(html: string): ReadHtml {
  const top: Open = { tag: '', said: '', href: undefined, inside: [] }
  const open: Open[] = [top]
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
    const [whole = '', slash, said = '', rest = ''] = TOKEN.exec(html) ?? []
    if (whole === '') return { fault: `"${html.slice(next, next + 12)}" is no tag: write &lt; for a < in the text` }
    at = next + whole.length
    if (slash === '/') {
      const fault = closed(open, said.toLowerCase())
      if (fault !== undefined) return { fault }
      continue
    }
    const begun = opened(said.toLowerCase(), rest)
    if (typeof begun === 'string') return { fault: begun }
    open.push(begun)
  }
  const left = open.at(-1)
  if (left !== undefined && left !== top) return { fault: `<${left.said}> is not closed: </${left.said}> is missing` }
  return { pieces: top.inside, length }
}

function closed(open: Open[], said: string): string | undefined {
  const last = open.at(-1)
  if (open.length < 2 || last === undefined) return `</${said}> closes nothing`
  if (last.said !== said) return `</${said}> stands where </${last.said}> must come first`
  open.pop()
  const { tag, href, inside } = last
  open.at(-1)?.inside.push(href === undefined ? { tag, inside } : { tag, href, inside })
  return undefined
}

/** The tag, or why there is none such. */
function opened(said: string, rest: string): Open | string {
  const tag = TAGS[said]
  if (tag === undefined)
    return `Telegram knows no <${said}>; it knows b, i, u, s, a, code, pre, blockquote and tg-spoiler`
  const attributes = new Map<string, string>()
  for (const [, name = '', ...values] of rest.matchAll(ATTRIBUTE))
    attributes.set(name.toLowerCase(), unescaped(values.slice(0, 3).find(value => value !== undefined) ?? ''))
  if (said === 'span' && attributes.get('class') !== 'tg-spoiler') return '<span> needs class="tg-spoiler"'
  if (said === 'tg-emoji' && !/^\d+$/.test(attributes.get('emoji-id') ?? '')) return '<tg-emoji> needs emoji-id'
  return { tag, said, href: tag === 'a' ? attributes.get('href') : undefined, inside: [] }
}

const unescaped = (text: string): string =>
  text.replace(ENTITY, (whole, name: string) => {
    const named = NAMED[name.toLowerCase()]
    if (named !== undefined) return named
    const code = name[1]?.toLowerCase() === 'x' ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
    return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole
  })

/** A text as it is shown where HTML is read. */
export const escapedHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
