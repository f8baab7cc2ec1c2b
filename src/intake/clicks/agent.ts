// Parses User-Agent headers. isbot tells crawlers and link previews from visitors. It also takes generic HTTP libraries for bots, but advertisers'
// checks and in-app clients use those, so here they are visitors unless the campaign has `strict_filter`.
import { isbot } from 'isbot'
import { LRUCache } from 'lru-cache'
import uap from 'my-ua-parser'
import { faithful } from '../../contract/texts.ts'

/** `person`: a browser or an app. `library`: curl and the like, or no User-Agent. `crawler`: also link previews. */
type AgentKind = 'person' | 'library' | 'crawler'

/** A parsed User-Agent; `os` and `browser` are names without versions. */
export type Agent = {
  readonly kind: AgentKind
  readonly user_agent: string | null
  readonly device: 'desktop' | 'mobile' | 'tablet' | 'other' | 'bot'
  readonly os: string | null
  readonly browser: string | null
}

/** Longer User-Agents are cut before parsing: no real one is longer, and long ones take time to parse. */
const LONGEST = 512

const LIBRARY =
  /^(?:curl|libcurl|wget|python|aiohttp|httpx|axios|node|node-fetch|undici|got|superagent|needle|ky|deno|bun|okhttp|retrofit|go-http-client|go-resty|fasthttp|java|jakarta|apache-httpclient|apache-httpasyncclient|jersey|unirest|reactornetty|kotlin|ktor|libwww-perl|lwp|perl|php|guzzlehttp|guzzle|symfony|ruby|faraday|httparty|rest-client|typhoeus|dart|reqwest|hyper|ureq|rust|restsharp|dotnet|\.net|powershell|windowspowershell|winhttp|postmanruntime|insomnia|httpie|paw|bruno|k6|wrk|vegeta|siege|ab|apachebench|jmeter|cfnetwork|elixir|hackney|erlang|lua-resty|luasocket)(?:[ /_(.:;-]|$)/i

/** Browsers send this with prefetches; the visitor may never open the page. */
const AHEAD = /prefetch|preview|prerender/i

const NO_AGENT: Agent = { kind: 'library', user_agent: null, device: 'other', os: null, browser: null }
const parsed = new LRUCache<string, Agent>({ max: 5000 })

/** Parses a User-Agent header; the last 5,000 different ones are cached. */
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

/** Whether the headers say that the request is a prefetch or a preview. */
export function isAhead(headers: Readonly<Record<string, string | string[] | undefined>>): boolean {
  const purpose = headers['sec-purpose'] ?? headers['purpose'] ?? headers['x-purpose'] ?? headers['x-moz']
  return purpose !== undefined && AHEAD.test(String(purpose))
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

/** The parser names no type for desktops or for unknown devices. */
function deviceOf(type: string | undefined, browser: string | undefined, os: string | undefined): Agent['device'] {
  if (type === 'mobile' || type === 'tablet') return type
  return type === undefined && browser !== undefined && os !== undefined ? 'desktop' : 'other'
}
