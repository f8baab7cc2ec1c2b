/**
 * Meta Conversions API. One event per request, because one bad event refuses them all. The value comes from the event map's custom data
 * and the payout is ignored, unless the account says otherwise.
 */
import { META_PURCHASE } from '../../contract/ad-platforms.ts'
import { DAY_MS } from '../../contract/days.ts'
import { fieldsOf } from '../../contract/json.ts'
import type { Answer, Judgement, Outgoing } from '../deliveries/lane.ts'
import { type Conversion, jsonOf, type Mapped, type Rendered, unreadable, withoutNulls } from './adapter.ts'
import type { MetaSettings } from './api.ts'
import { hashed, normalEmail, phoneDigits, sha256 } from './hashing.ts'

/** One older event refuses the whole request; the minute is for the way there. */
const OLDEST_MS = 7 * DAY_MS - 60_000
/** What Meta calls an expired click id. */
const CLICK_LIVES_MS = 90 * DAY_MS

/** A conversion as an event of the Conversions API, or why none is sent. `now` is Unix ms, so that what has become too old is seen. */
export function renderMeta(settings: MetaSettings, mapped: Mapped, conversion: Conversion, now: number): Rendered {
  if (now - conversion.happened_ms > OLDEST_MS) return { skip: 'older than the 7 days that Meta takes' }
  const worth = worthOf(settings, mapped, conversion)
  if (mapped.name === META_PURCHASE && worth['value'] === undefined)
    return { skip: 'a Purchase needs a value: the conversion has no payout and the event map names none' }
  return {
    event: {
      event_name: mapped.name,
      event_time: Math.floor(conversion.happened_ms / 1000),
      event_id: conversion.event_id,
      ...placeOf(settings, conversion),
      user_data: userOf(settings, conversion, now),
      ...(Object.keys(worth).length === 0 ? {} : { custom_data: worth }),
    },
  }
}

/** A website's event must name its page and the browser; where either is unknown it is told as the system's. */
function placeOf({ action_source }: MetaSettings, { type, is_chat, page_url, click }: Conversion) {
  const isRenewal = type === 'subscription_renewed' || type === 'subscription_cancelled'
  const fitting = isRenewal ? 'system_generated' : is_chat ? 'chat' : 'website'
  const source = action_source === 'automatic' ? fitting : action_source
  if (source !== 'website') return { action_source: source }
  if (page_url === null || click.user_agent === null) return { action_source: 'system_generated' }
  return { action_source: source, event_source_url: page_url }
}

function userOf(settings: MetaSettings, { person_id, contact, click }: Conversion, now: number) {
  const email = settings.sends_contact ? hashed(normalEmail(contact.email)) : null
  const phone = settings.sends_contact ? hashed(phoneDigits(contact.phone)) : null
  return withoutNulls({
    external_id: [sha256(person_id)],
    em: email && [email],
    ph: phone && [phone],
    client_ip_address: click.ip,
    client_user_agent: click.user_agent,
    fbc: fbcOf(click, now),
  })
}

/** As Meta's own cookie would hold it: the click's time in milliseconds, and its id byte for byte. */
function fbcOf({ fbclid, made_ms }: Conversion['click'], now: number): string | null {
  return fbclid === null || now - made_ms > CLICK_LIVES_MS ? null : `fb.1.${made_ms}.${fbclid}`
}

function worthOf(
  { use_payout_as_value }: MetaSettings,
  mapped: Mapped,
  { payout }: Conversion,
): Record<string, unknown> {
  const { value, predicted_ltv, ...block } = mapped.custom_data ?? {}
  const told = {
    ...block,
    ...(value === undefined ? {} : { value: Number(value) }),
    ...(predicted_ltv === undefined ? {} : { predicted_ltv: Number(predicted_ltv) }),
  }
  return use_payout_as_value && payout !== null ? { ...told, value: Number(payout), currency: 'USD' } : told
}

type Sending = {
  readonly base: string
  readonly version: string
  readonly token: string
  readonly test_event_code?: string | undefined
}

/** The token travels in the body: addresses end up in the logs of proxies. */
export function callMeta(
  { pixel_id }: MetaSettings,
  event: Readonly<Record<string, unknown>>,
  { base, version, token, test_event_code }: Sending,
): Outgoing {
  const body = { data: [event], access_token: token, test_event_code }
  return {
    method: 'POST',
    url: `${base}/${version}/${pixel_id}/events`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    isTrusted: true,
    shown: { body: JSON.stringify({ data: [event], test_event_code }) },
    secrets: [token],
  }
}

/** Codes of troubles that end: Meta's own, and asking too often. */
const PASSING = new Set([1, 2, 4, 17, 32, 341, 368, 613, 5000, 21009, 80003, 80004])
/** Codes of a token that is no good any more. */
const DEAD = new Set([102, 190])
/** Codes of a right that the token's owner or app has not got. */
const FORBIDDEN = new Set([3, 10, 200, 294])
/** A dataset that is not there, or that the token does not reach. */
const MISSING = { code: 100, subcode: 33 }

/** Meta's code counts before its status, which is 500 for lasting refusals too. */
export function judgeMeta(answer: Answer): Judgement {
  const body = jsonOf(answer)
  if (body === undefined) return unreadable(answer)
  const isTaken = answer.status !== null && answer.status >= 200 && answer.status < 300
  if (isTaken && body['error'] === undefined && Number(body['events_received']) >= 1) return { outcome: 'delivered' }
  if (body['error'] === undefined) return unreadable(answer)
  const error = fieldsOf(body['error'])
  const [code, subcode] = [Number(error['code']), Number(error['error_subcode'])]
  const reason = reasonOf(error)
  if (DEAD.has(code) || FORBIDDEN.has(code)) return { outcome: 'broken', reason }
  if (code === MISSING.code && subcode === MISSING.subcode) return { outcome: 'broken', reason }
  if (error['is_transient'] === true || PASSING.has(code)) return { outcome: 'retry', reason }
  if (code === 100 || code === 105 || (subcode >= 2_804_000 && subcode < 2_805_000))
    return { outcome: 'failed', reason }
  return { outcome: 'retry', reason }
}

function reasonOf(error: Readonly<Record<string, unknown>>): string {
  const { code, error_subcode, message, error_user_title, error_user_msg } = error
  const name = `Meta ${[code, error_subcode].filter(number => typeof number === 'number').join('/')}`
  const words = [error_user_title, error_user_msg ?? message].filter(text => typeof text === 'string' && text !== '')
  return `${name}: ${words.join(': ') || 'no words'}`
}
