// A fake of Meta's Conversions API on loopback: checks requests by Meta's documentation, and answers in Meta's format.
import { isIP } from 'node:net'
import { DAY_S, type Fake, jsonBody, type Reply, SHA256, startFake, strangers, textOf } from './platform-fake.ts'
import type { Arrival } from './receiver.ts'

type MetaEvent = {
  event_name: string
  event_time: number
  event_id?: string
  action_source: string
  event_source_url?: string
  user_data: Record<string, unknown>
  custom_data?: Record<string, unknown>
}
export type MetaTaken = { pixel_id: string; event: MetaEvent; test_event_code: string | undefined }

export const metaError = (code: number, subcode?: number, more: object = {}): Reply => ({
  status: code === 190 ? 401 : 400,
  body: {
    error: {
      message: 'Invalid parameter',
      type: 'OAuthException',
      code,
      ...(subcode === undefined ? {} : { error_subcode: subcode }),
      fbtrace_id: 'AbCdEf123',
      ...more,
    },
  },
})

/** Starts the fake. `tokens` are the valid ones, each with the pixels it may write to. */
export async function startMeta(tokens: Record<string, string[]>): Promise<Fake<MetaTaken> & { known: typeof tokens }> {
  const fake = await startFake<MetaTaken>((call, taken) => judge(call, taken, tokens))
  return Object.assign(fake, { known: tokens })
}

function judge(call: Arrival, taken: MetaTaken[], tokens: Record<string, string[]>): Reply {
  const pixel_id = /^\/v\d+\.\d+\/(\d+)\/events$/.exec(call.url)?.[1]
  if (pixel_id === undefined || call.method !== 'POST')
    return metaError(2500, undefined, { message: 'Unknown path components' })
  if (call.headers['content-type']?.startsWith('application/json') !== true) return metaError(100)
  const body = jsonBody(call)
  const token = body?.['access_token']
  if (typeof token !== 'string' || tokens[token] === undefined)
    return metaError(190, 463, { message: 'Error validating access token: Session has expired' })
  if (!tokens[token].includes(pixel_id))
    return metaError(100, 33, { message: `Unsupported post request. Object with ID '${pixel_id}' does not exist` })
  const fault = faultOf(body)
  if (fault !== undefined) return fault
  const events = body?.['data'] as MetaEvent[]
  const test_event_code = body?.['test_event_code'] as string | undefined
  for (const event of events) taken.push({ pixel_id, event, test_event_code })
  return { status: 200, body: { events_received: events.length, messages: [], fbtrace_id: 'AbCdEf123' } }
}

function faultOf(body: Record<string, unknown> | undefined): Reply | undefined {
  const events = body?.['data']
  if (!Array.isArray(events) || events.length === 0 || events.length > 1000) return metaError(100, 2_804_001)
  if (strangers(body, ['data', 'access_token', 'test_event_code', 'partner_agent']).length > 0) return metaError(100)
  for (const event of events as MetaEvent[]) {
    const subcode = subcodeOf(event)
    if (subcode !== undefined)
      return metaError(100, subcode, { error_user_title: 'Bad event', error_user_msg: String(subcode) })
  }
  return undefined
}

const FIELDS = [
  'event_name',
  'event_time',
  'event_id',
  'action_source',
  'event_source_url',
  'user_data',
  'custom_data',
  'opt_out',
]
const SOURCES = [
  'website',
  'app',
  'chat',
  'email',
  'phone_call',
  'physical_store',
  'system_generated',
  'business_messaging',
  'other',
]

/** Meta's error subcode for an event, or undefined. */
function subcodeOf(event: MetaEvent): number | undefined {
  const { event_name, event_time, event_id, action_source, event_source_url, user_data, custom_data } = event
  if (strangers(event, FIELDS).length > 0) return 2_804_007
  if (typeof event_name !== 'string' || event_name === '' || event_name.length > 50) return 2_804_008
  const now = Date.now() / 1000
  if (!Number.isInteger(event_time) || event_time < now - 7 * DAY_S || event_time > now + 60) return 2_804_003
  if (event_id !== undefined && (typeof event_id !== 'string' || event_id.length > 64)) return 2_804_017
  if (!SOURCES.includes(action_source) || action_source === 'business_messaging') return 2_804_066
  if (typeof user_data !== 'object' || user_data === null || Object.keys(user_data).length === 0) return 2_804_050
  if (action_source === 'website') {
    if (!/^https?:\/\/[^/]+/.test(event_source_url ?? '')) return 2_804_019
    if (typeof user_data['client_user_agent'] !== 'string') return 2_804_019
  }
  return (
    faultOfUser(user_data) ??
    (custom_data === undefined ? missingValue(event_name) : faultOfCustomData(event_name, custom_data))
  )
}

const HASHED = ['em', 'ph', 'fn', 'ln', 'ge', 'db', 'ct', 'st', 'zp', 'country', 'external_id']
const PLAIN = ['client_ip_address', 'client_user_agent', 'fbc', 'fbp']

function faultOfUser(user: Record<string, unknown>): number | undefined {
  if (strangers(user, [...HASHED, ...PLAIN]).length > 0) return 2_804_007
  for (const key of HASHED) {
    const values = user[key] === undefined ? [] : [user[key]].flat()
    if (values.some(value => typeof value !== 'string' || !SHA256.test(value))) return 2_804_016
  }
  const { client_ip_address: ip, client_user_agent, fbc, fbp } = user
  if (ip !== undefined && (typeof ip !== 'string' || isIP(ip) === 0 || /^(10|127|192\.168)\./.test(ip)))
    return 2_804_048
  if (client_user_agent !== undefined && typeof client_user_agent !== 'string') return 2_804_048
  if (fbc !== undefined && !/^fb\.[012]\.\d{13}\.[\x21-\x7e]+$/.test(textOf(fbc))) return 2_804_048
  if (fbp !== undefined && !/^fb\.[012]\.\d{13}\.\d+$/.test(textOf(fbp))) return 2_804_048
  return undefined
}

const missingValue = (event_name: string): number | undefined => (event_name === 'Purchase' ? 2_804_009 : undefined)

function faultOfCustomData(event_name: string, { value, currency }: Record<string, unknown>): number | undefined {
  if (event_name === 'Purchase' && (value === undefined || currency === undefined)) return 2_804_009
  if (value !== undefined && (typeof value !== 'number' || value < 0)) return 2_804_007
  if (currency !== undefined && !/^[A-Z]{3}$/.test(textOf(currency))) return 2_804_007
  return undefined
}
