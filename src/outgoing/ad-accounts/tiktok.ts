/** The adapter of TikTok's Events API 1.3. Nearly all answers are HTTP 200; `code` says whether it worked. The value is the payout in USD. */
import { DAY_MS } from '../../contract/days.ts'
import { fieldsOf } from '../../contract/json.ts'
import type { CallAnswer, Judgement, Outgoing } from '../deliveries/lane.ts'
import {
  type Adapter,
  type ConversionToSend,
  type EventToSend,
  jsonOf,
  type MappedEvent,
  type RenderedEvent,
  judgeUnreadable,
  withoutNulls,
} from './adapter.ts'
import type { TikTokSettings } from './api.ts'
import { hashed, normalEmail, phoneDigits, sha256 } from './hashing.ts'

/** TikTok documents no limit for web events. Older events are of no use to its optimization. */
const MAX_AGE_DAYS = 7
const MAX_AGE_MS = MAX_AGE_DAYS * DAY_MS

/** A conversion as an event of the Events API, or why it is not sent. `now` in Unix ms decides whether it is too old. */
export function renderTikTok(
  settings: TikTokSettings,
  mapped: MappedEvent,
  conversion: ConversionToSend,
  now: number,
): RenderedEvent {
  if (now - conversion.happened_ms > MAX_AGE_MS) return { skip: 'older than the 7 days that are sent to TikTok' }
  const { click, payout, page_url } = conversion
  const user = userOf(settings, conversion)
  const isMatchable = click.ttclid !== null || user.email !== undefined || user.phone !== undefined || click.ip !== null
  if (!isMatchable) return { skip: 'TikTok could not match it: no ttclid, no IP address and no contact' }
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

/** Phone numbers are hashed with a `+`, unlike at Meta. */
function userOf(settings: TikTokSettings, { person_id, contact, click }: ConversionToSend) {
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

/** The request for one event. With a test code the Events Manager shows it as a test. */
function callTikTok({ settings, event, credential, access, test }: EventToSend<TikTokSettings>): Outgoing {
  const { test_event_code } = test ?? {}
  const body = { event_source: 'web', event_source_id: settings.pixel_code, test_event_code, data: [event] }
  return {
    method: 'POST',
    url: `${access.config.tiktokApiBase}/open_api/v1.3/event/track/`,
    headers: { 'content-type': 'application/json', 'access-token': credential },
    body: JSON.stringify(body),
    isTrusted: true,
    shown: { body: JSON.stringify(body) },
    secrets: [credential],
    judge: judgeTikTok,
  }
}

const OK = 0
const PARTLY_OK = 20_001
const NO_PERMISSION = 40_001
const INVALID = 40_002
const TOO_MANY = 40_100

/** Judges an answer by TikTok's code. */
export function judgeTikTok(answer: CallAnswer): Judgement {
  const body = jsonOf(answer)
  const code = body?.['code']
  if (body === undefined || typeof code !== 'number') return judgeUnreadable(answer)
  const reason = `TikTok ${code}: ${typeof body['message'] === 'string' ? body['message'] : 'no message'}`
  if (code === OK) return { outcome: 'delivered' }
  if (code === PARTLY_OK)
    return hasRefusedEvents(body['data']) ? { outcome: 'failed', reason } : { outcome: 'delivered' }
  if (code === TOO_MANY) return { outcome: 'retry', reason }
  // Codes 401xx concern the token; all but TOO_MANY need a new one.
  if (code === NO_PERMISSION || (code > TOO_MANY && code < 40_200)) return { outcome: 'broken', reason }
  return { outcome: code === INVALID ? 'failed' : 'retry', reason }
}

/** Whether a partial success names refused events; the request has only one. */
function hasRefusedEvents(value: unknown): boolean {
  return Object.values(fieldsOf(value)).some(list => Array.isArray(list) && list.length > 0)
}

export const tiktokAdapter: Adapter<TikTokSettings> = {
  max_age_days: MAX_AGE_DAYS,
  acceptsCorrections: false,
  needsTestCode: true,
  render: renderTikTok,
  call: callTikTok,
}
