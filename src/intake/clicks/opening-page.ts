/**
 * The page that opens Telegram's app. Browsers inside other apps show t.me as a web page or not at all. This page tries the app at once and has
 * a button as well. It loads nothing from other hosts, and of the visitor's input it contains only the link.
 */
import { hash } from 'node:crypto'
import type { Answer } from '../../ground/room.ts'

const STYLE =
  'body{margin:0;min-height:100vh;display:grid;place-items:center;font:17px/1.5 system-ui,sans-serif;color:#1d2733;background:#f4f6f8}' +
  'main{padding:24px;max-width:22em;text-align:center}h1{font-size:22px;margin:0 0 8px}p{margin:0 0 24px;color:#55606c}' +
  'a{display:block;padding:14px 20px;border-radius:12px;background:#1f6feb;color:#fff;font-weight:600;text-decoration:none}' +
  '@media(prefers-color-scheme:dark){body{color:#e8edf2;background:#17212b}p{color:#a3b0bd}}'

/** Opens the app after the page has loaded, so that the visitor can come back to it. */
const SCRIPT = "setTimeout(()=>{location.href=document.querySelector('main').dataset.app},100)"

const sourceOf = (text: string): string => `'sha256-${hash('sha256', text, 'base64')}'`

const HEADERS = {
  'cache-control': 'no-store',
  'referrer-policy': 'strict-origin-when-cross-origin',
  'content-type': 'text/html; charset=utf-8',
  'x-robots-tag': 'noindex',
  'x-content-type-options': 'nosniff',
  'content-security-policy': `default-src 'none'; style-src ${sourceOf(STYLE)}; script-src ${sourceOf(SCRIPT)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
}

const HEAD = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>Open in Telegram</title><style>${STYLE}</style>`

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '"': '&quot;', '<': '&lt;', '>': '&gt;' }
const attribute = (text: string): string => text.replace(/[&"<>]/g, sign => ESCAPES[sign] ?? '')

/** The page for a link. `app_link` is the same link in the form that opens the app. */
export function openingPage(link: string, app_link: string): Answer {
  const body = `${HEAD}<main data-app="${attribute(app_link)}"><h1>Open in Telegram</h1><p>Telegram opens automatically. If it does not, press the button.</p><a href="${attribute(link)}">Open Telegram</a></main><script>${SCRIPT}</script></html>\n`
  return { status: 200, headers: { ...HEADERS }, body }
}
