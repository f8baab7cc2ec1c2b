// The requests of the load, as bytes, so that composing one costs less than answering it.

/** Redirects of new visitors: no cookie, and another address and creative each time. */
type Redirects = { kind: 'redirects'; campaignKeys: string[] }

/** Visits that pages report, each with a page token of its own. */
type Visits = { kind: 'visits'; campaignKeys: string[] }

/** A conversion to report: its key and its click. */
export type Conversion = { key: string; click: string }

/** Conversions in order; the load ends early when none is left. */
type Conversions = { kind: 'conversions'; list: Conversion[]; nonce: string }

/** The same request again and again. */
type Same = { kind: 'same'; request: string }

export type Recipe = Redirects | Visits | Conversions | Same

/** Enough different visitors that caches do not help more than with real traffic. */
const VISITORS = 20_000

/** Devices that browsers still name, and the number of versions in use: a thousand user agents in total. */
const DEVICES = [
  'SM-S911B',
  'SM-A145F',
  'SM-A536B',
  'Redmi Note 11',
  'Redmi 12C',
  'CPH2591',
  'moto g54',
  'Pixel 8',
  'K',
  'K',
]
const VERSIONS = 30

function agentOf(mix: number): string {
  const version = `${112 + (mix % VERSIONS)}.0.0.0`
  const chrome = `AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}`
  const kind = (mix >>> 5) % 10
  if (kind < 6)
    return `Mozilla/5.0 (Linux; Android ${10 + (mix % 5)}; ${DEVICES[(mix >>> 9) % DEVICES.length]}) ${chrome} Mobile Safari/537.36`
  if (kind < 8)
    return `Mozilla/5.0 (iPhone; CPU iPhone OS 1${6 + (mix % 3)}_${mix % 7} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/1${6 + (mix % 3)}.${mix % 7} Mobile/15E148 Safari/604.1`
  return `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36`
}

/** Returns a function that returns the next request, or undefined if none is left. */
export function requestsOf(recipe: Recipe): () => Buffer | undefined {
  if (recipe.kind === 'same') {
    const request = Buffer.from(recipe.request)
    return () => request
  }
  if (recipe.kind === 'conversions') {
    let at = 0
    return () => {
      const next = recipe.list[at]
      at += 1
      return next === undefined ? undefined : conversion(next, recipe.nonce)
    }
  }
  if (recipe.kind === 'visits') {
    // Tokens of another run would be the same visits.
    const run = Date.now()
    let visitor = 0
    return () => {
      visitor += 1
      return pageVisit(recipe.campaignKeys, visitor, `${run}${String(visitor).padStart(9, '0')}`)
    }
  }
  const requests = Array.from({ length: VISITORS }, (_, visitor) => redirect(recipe.campaignKeys, visitor))
  let at = 0
  return () => {
    at = (at + 1) % VISITORS
    return requests[at]
  }
}

function redirect(campaignKeys: readonly string[], visitor: number): Buffer {
  const mix = Math.imul(visitor + 1, 0x9e3779b1) >>> 0
  const query = `sub1=creative-${mix % 16}&sub2=adset-${mix % 7}&sub3=mobile_feed&ref_id=${mix.toString(36)}-${visitor}`
  return Buffer.from(
    [
      `GET /c/${campaignKeys[visitor % campaignKeys.length]}?${query} HTTP/1.1`,
      'host: localhost',
      `user-agent: ${agentOf(mix)}`,
      'accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
      'accept-language: en-US,en;q=0.9',
      `x-forwarded-for: ${11 + (mix % 180)}.${(mix >>> 8) % 256}.${(mix >>> 16) % 256}.${mix >>> 24}`,
      '\r\n',
    ].join('\r\n'),
  )
}

function pageVisit(campaignKeys: readonly string[], visitor: number, t: string): Buffer {
  const mix = Math.imul(visitor + 1, 0x9e3779b1) >>> 0
  const u = `https://shop.example/?sub1=creative-${mix % 16}&sub2=adset-${mix % 7}&sub3=mobile_feed&ref_id=${mix.toString(36)}-${visitor}`
  const body = JSON.stringify({ t, u, r: 'https://ads.example/' })
  return Buffer.from(
    [
      `POST /v/${campaignKeys[visitor % campaignKeys.length]} HTTP/1.1`,
      'host: localhost',
      `user-agent: ${agentOf(mix)}`,
      'origin: https://shop.example',
      'content-type: text/plain',
      'accept-language: en-US,en;q=0.9',
      `x-forwarded-for: ${11 + (mix % 180)}.${(mix >>> 8) % 256}.${(mix >>> 16) % 256}.${mix >>> 24}`,
      `content-length: ${body.length}`,
      '',
      body,
    ].join('\r\n'),
  )
}

/** The report of a conversion, as a sender posts it. */
export function conversion({ key, click }: Conversion, nonce: string): Buffer {
  const body = JSON.stringify({ clickId: click, type: 'lead', nonce, payload: { order: nonce } })
  return Buffer.from(
    [
      'POST /api/events HTTP/1.1',
      'host: localhost',
      `x-api-key: ${key}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
      '',
      body,
    ].join('\r\n'),
  )
}
