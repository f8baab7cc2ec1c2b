// What a User-Agent says. Crawlers and link previews are told from visitors by isbot, except generic HTTP libraries, which it takes for
// bots: an advertiser's own checks and in-app clients come as such, so they are visitors unless a campaign filters strictly.
import { isbot } from 'isbot'
import { LRUCache } from 'lru-cache'
import uap from 'my-ua-parser'
import { faithful } from '../../contract/texts.ts'

/** `person` may as well be an app; `library` is curl and its like, or no agent at all; `crawler` includes link previews. */
type AgentKind = 'person' | 'library' | 'crawler'

/** A parsed User-Agent; `os` and `browser` are names without versions. */
export type Agent = {
  readonly kind: AgentKind
  readonly user_agent: string | null
  readonly device: 'desktop' | 'mobile' | 'tablet' | 'other' | 'bot'
  readonly os: string | null
  readonly browser: string | null
}

/** Longer ones are cut before they are parsed: nobody's real agent is, and parsing takes time by length. */
const LONGEST = 512

const LIBRARY =
  /^(?:curl|libcurl|wget|python|aiohttp|httpx|axios|node|node-fetch|undici|got|superagent|needle|ky|deno|bun|okhttp|retrofit|go-http-client|go-resty|fasthttp|java|jakarta|apache-httpclient|apache-httpasyncclient|jersey|unirest|reactornetty|kotlin|ktor|libwww-perl|lwp|perl|php|guzzlehttp|guzzle|symfony|ruby|faraday|httparty|rest-client|typhoeus|dart|reqwest|hyper|ureq|rust|restsharp|dotnet|\.net|powershell|windowspowershell|winhttp|postmanruntime|insomnia|httpie|paw|bruno|k6|wrk|vegeta|siege|ab|apachebench|jmeter|cfnetwork|elixir|hackney|erlang|lua-resty|luasocket)(?:[ /_(.:;-]|$)/i

/** A browser that loads ahead says so; the visitor may never come. */
const AHEAD = /prefetch|preview|prerender/i

const NO_AGENT: Agent = { kind: 'library', user_agent: null, device: 'other', os: null, browser: null }
const parsed = new LRUCache<string, Agent>({ max: 5000 })

/** Parses a User-Agent header, remembering the last 5,000 different ones. */
export function agentOf(header: string | string[] | undefined): Agent {
  const sent = typeof header === 'string' ? header : header?.[0]
  if (sent === undefined || sent === '') return NO_AGENT
  const user_agent = sent.length > LONGEST ? sent.slice(0, LONGEST) : sent
  const known = parsed.get(user_agent)
  if (known !== undefined) return known
  const agent = parse(faithful(user_agent))
  parsed.set(user_agent, agent)
  return agent
}

/** Whether the request only loads ahead of a visitor or for a preview, by what its headers say. */
export function isAhead(headers: Readonly<Record<string, string | string[] | undefined>>): boolean {
  const said = headers['sec-purpose'] ?? headers['purpose'] ?? headers['x-purpose'] ?? headers['x-moz']
  return said !== undefined && AHEAD.test(String(said))
}

/** Whether a visit by this agent counts in reports. */
export function isTracked(kind: AgentKind, ahead: boolean, strict: boolean): boolean {
  return !ahead && (kind === 'person' || (kind === 'library' && !strict))
}

function parse(user_agent: string): Agent {
  const { device, os, browser } = new uap.UAParser(user_agent).getResult()
  const kind = LIBRARY.test(user_agent) ? 'library' : isbot(user_agent) ? 'crawler' : 'person'
  return {
    kind,
    user_agent,
    device: kind === 'crawler' ? 'bot' : kind === 'library' ? 'other' : deviceOf(device.type, browser.name, os.name),
    os: os.name ?? null,
    browser: browser.name ?? null,
  }
}

/** The parser names no type for desktops, nor for what it does not know. */
function deviceOf(type: string | undefined, browser: string | undefined, os: string | undefined): Agent['device'] {
  if (type === 'mobile' || type === 'tablet') return type
  return type === undefined && browser !== undefined && os !== undefined ? 'desktop' : 'other'
}
