/** TikTok Events API 1.3. It answers HTTP 200 to nearly everything; what it thinks is in `code`. The value is the payout in USD. */
import { DAY_MS } from '../../contract/days.ts'
import { fieldsOf } from '../../contract/json.ts'
import type { Answer, Judgement, Outgoing } from '../deliveries/lane.ts'
import { type Conversion, jsonOf, type Mapped, type Rendered, unreadable, withoutNulls } from './adapter.ts'
import type { TikTokSettings } from './api.ts'
import { hashed, normalEmail, phoneDigits, sha256 } from './hashing.ts'

/** TikTok names no limit for web events; later than this it can learn nothing from one. */
const OLDEST_MS = 7 * DAY_MS

/** A conversion as an event of the Events API, or why none is sent. `now` is Unix ms, so that what has become too old is seen. */
export function renderTikTok(settings: TikTokSettings, mapped: Mapped, conversion: Conversion, now: number): Rendered {
  if (now - conversion.happened_ms > OLDEST_MS) return { skip: 'older than the 7 days that are sent to TikTok' }
  const { click, payout, page_url } = conversion
  const user = userOf(settings, conversion)
  const isKnown = click.ttclid !== null || user.email !== undefined || user.phone !== undefined || click.ip !== null
  if (!isKnown) return { skip: 'nothing TikTok could match: no ttclid, no address and no contact' }
  return {
    event: {
      event: mapped.name,
      event_time: Math.floor(conversion.happened_ms / 1000),
      event_id: conversion.event_id,
      user,
      ...(payout === null ? {} : { properties: { value: Number(payout), currency: 'USD' } }),
      ...(page_url === null ? {} : { page: { url: page_url } }),
    },
  }
}

/** Telephone numbers are hashed with their `+`, unlike Meta's. */
function userOf(settings: TikTokSettings, { person_id, contact, click }: Conversion) {
  const digits = settings.sends_contact ? phoneDigits(contact.phone) : null
  return withoutNulls({
    ttclid: click.ttclid,
    external_id: sha256(person_id),
    email: settings.sends_contact ? hashed(normalEmail(contact.email)) : null,
    phone: hashed(digits && `+${digits}`),
    ip: click.ip,
    user_agent: click.user_agent,
  })
}

type Sending = { readonly base: string; readonly token: string; readonly test_event_code?: string | undefined }

/** The request for one event. With `test_event_code` the Events Manager shows it as a test. */
export function callTikTok(
  { pixel_code }: TikTokSettings,
  event: Readonly<Record<string, unknown>>,
  { base, token, test_event_code }: Sending,
): Outgoing {
  const body = { event_source: 'web', event_source_id: pixel_code, test_event_code, data: [event] }
  return {
    method: 'POST',
    url: `${base}/open_api/v1.3/event/track/`,
    headers: { 'content-type': 'application/json', 'access-token': token },
    body: JSON.stringify(body),
    isTrusted: true,
    shown: { body: JSON.stringify(body) },
    secrets: [token],
  }
}

const TAKEN = 0
const PARTLY_TAKEN = 20_001
const NO_PERMISSION = 40_001
const INVALID = 40_002
const TOO_MANY = 40_100

/** What the answer means: taken, to be tried again, never, or a credential that is no good any more. */
export function judgeTikTok(answer: Answer): Judgement {
  const body = jsonOf(answer)
  const code = body?.['code']
  if (body === undefined || typeof code !== 'number') return unreadable(answer)
  const reason = `TikTok ${code}: ${typeof body['message'] === 'string' ? body['message'] : 'no words'}`
  if (code === TAKEN) return { outcome: 'delivered' }
  if (code === PARTLY_TAKEN)
    return refusedEvents(body['data']) ? { outcome: 'failed', reason } : { outcome: 'delivered' }
  if (code === TOO_MANY) return { outcome: 'retry', reason }
  // The 401xx tell of tokens; all but the one above are answered by a new one.
  if (code === NO_PERMISSION || (code > TOO_MANY && code < 40_200)) return { outcome: 'broken', reason }
  return { outcome: code === INVALID ? 'failed' : 'retry', reason }
}

/** Whether a partial success names events it refused; with one event in the request that is ours. */
function refusedEvents(value: unknown): boolean {
  return Object.values(fieldsOf(value)).some(list => Array.isArray(list) && list.length > 0)
}
