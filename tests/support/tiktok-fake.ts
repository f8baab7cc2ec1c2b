// A fake of TikTok's Events API 1.3 on loopback. Nearly all answers are HTTP 200; `code` says whether it worked.
import { isIP } from 'node:net'
import { DAY_S, type Fake, jsonBody, type Reply, SHA256, startFake, strangers, textOf } from './platform-fake.ts'
import type { Arrival } from './receiver.ts'

type TikTokEvent = {
  event: string
  event_time: number
  event_id?: string
  user: Record<string, unknown>
  properties?: Record<string, unknown>
  page?: Record<string, unknown>
}
export type TikTokTaken = { pixel_code: string; event: TikTokEvent; test_event_code: string | undefined }

export const tiktokReply = (code: number, message: string, data: unknown = {}): Reply => ({
  status: 200,
  body: { code, message, request_id: '2026112109080001', data },
})

/** Starts the fake. `tokens` are the valid ones, each with the pixels it may write to. */
export async function startTikTok(tokens: Record<string, string[]>): Promise<Fake<TikTokTaken>> {
  return await startFake<TikTokTaken>((call, taken) => judge(call, taken, tokens))
}

function judge(call: Arrival, taken: TikTokTaken[], tokens: Record<string, string[]>): Reply {
  if (call.url !== '/open_api/v1.3/event/track/') return { status: 404, body: '<html>404 page not found</html>' }
  if (call.method !== 'POST') return { status: 405, body: '<html>405</html>' }
  if (call.headers['content-type'] !== 'application/json')
    return tiktokReply(40_002, 'Content-Type must be application/json')
  const token = call.headers['access-token']
  if (typeof token !== 'string' || token === '')
    return tiktokReply(40_105, 'Access token is incorrect or has been revoked.')
  const pixels = tokens[token]
  if (pixels === undefined) return tiktokReply(40_105, 'Access token is incorrect or has been revoked.')
  const body = jsonBody(call)
  const pixel_code = textOf(body?.['event_source_id'])
  const fault = faultOf(body)
  if (fault !== undefined) return tiktokReply(40_002, fault)
  if (!pixels.includes(pixel_code)) return tiktokReply(40_001, 'No permission to operate the pixel code')
  const test_event_code = body?.['test_event_code'] as string | undefined
  const events = body?.['data'] as TikTokEvent[]
  for (const event of events) taken.push({ pixel_code, event, test_event_code })
  return tiktokReply(0, 'OK')
}

function faultOf(body: Record<string, unknown> | undefined): string | undefined {
  if (body === undefined) return 'Invalid JSON'
  const { event_source, event_source_id, data, test_event_code } = body
  const odd = strangers(body, ['event_source', 'event_source_id', 'partner_name', 'test_event_code', 'data'])
  if (odd.length > 0) return `unknown field ${odd[0]}`
  if (!['web', 'app', 'offline', 'crm'].includes(textOf(event_source))) return 'event_source: not a valid choice'
  if (typeof event_source_id !== 'string' || event_source_id === '')
    return 'event_source_id: missing data for required field'
  if (test_event_code !== undefined && typeof test_event_code !== 'string') return 'test_event_code: must be a string'
  if (!Array.isArray(data) || data.length === 0 || data.length > 1000) return 'data: length must be between 1 and 1000'
  if (test_event_code !== undefined && data.length > 1) return 'data: only one event with test_event_code'
  return (data as TikTokEvent[]).map(faultOfEvent).find(fault => fault !== undefined)
}

const FIELDS = ['event', 'event_time', 'event_id', 'user', 'properties', 'page', 'limited_data_use']

function faultOfEvent(one: TikTokEvent): string | undefined {
  const { event, event_time, event_id, user, properties, page } = one
  const odd = strangers(one, FIELDS)
  if (odd.length > 0) return `data.0.${odd[0]}: unknown field`
  if (typeof event !== 'string' || event === '' || event.length > 50) return 'data.0.event: missing'
  const now = Date.now() / 1000
  if (!Number.isInteger(event_time) || event_time < now - 28 * DAY_S || event_time > now + 60)
    return 'data.0.event_time: invalid'
  if (event_id !== undefined && (typeof event_id !== 'string' || event_id.length > 128))
    return 'data.0.event_id: invalid'
  if (typeof user !== 'object' || user === null || Object.keys(user).length === 0) return 'data.0.user: missing'
  if (page !== undefined && !/^https?:\/\//.test(textOf(page['url']))) return 'data.0.page.url: not a valid URL'
  return faultOfUser(user) ?? faultOfProperties(properties)
}

const HASHED = ['external_id', 'email', 'phone', 'first_name', 'last_name', 'zip_code']

function faultOfUser(user: Record<string, unknown>): string | undefined {
  const odd = strangers(user, [...HASHED, 'ttclid', 'ttp', 'ip', 'user_agent', 'locale', 'city', 'state', 'country'])
  if (odd.length > 0) return `data.0.user.${odd[0]}: unknown field`
  const plain = HASHED.find(key => user[key] !== undefined && !SHA256.test(textOf(user[key])))
  if (plain !== undefined) return `data.0.user.${plain}: must be hashed by SHA-256`
  const { ip, ttclid, user_agent } = user
  if (ip !== undefined && (typeof ip !== 'string' || isIP(ip) === 0)) return 'data.0.user.ip: not an address'
  const text = [ttclid, user_agent].find(value => value !== undefined && (typeof value !== 'string' || value === ''))
  return text === undefined ? undefined : 'data.0.user: not a valid string'
}

function faultOfProperties(properties: Record<string, unknown> | undefined): string | undefined {
  if (properties === undefined) return undefined
  const { value, currency } = properties
  if (value !== undefined && (typeof value !== 'number' || value < 0))
    return 'data.0.properties.value: not a valid number'
  if (value !== undefined && !/^[A-Z]{3}$/.test(textOf(currency)))
    return 'data.0.properties.currency: required with value'
  return undefined
}
