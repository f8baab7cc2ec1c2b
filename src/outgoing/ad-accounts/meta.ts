/**
 * The adapter of Meta's Conversions API. One event per request, because Meta refuses a whole request for one bad event. The value comes from the
 * event map's custom data, or from the payout if the account says so.
 */
import { META_PURCHASE } from '../../contract/ad-platforms.ts'
import { DAY_MS, MINUTE_MS } from '../../contract/days.ts'
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
import type { MetaSettings } from './api.ts'
import { hashed, normalEmail, phoneDigits, sha256 } from './hashing.ts'

const MAX_AGE_DAYS = 7
/** Meta refuses older events. The minute is for the request itself. */
const MAX_AGE_MS = MAX_AGE_DAYS * DAY_MS - MINUTE_MS
/** Meta calls an older click id expired. */
const CLICK_ID_LIFETIME_MS = 90 * DAY_MS

/** A conversion as an event of the Conversions API, or why it is not sent. `now` in Unix ms decides whether it is too old. */
export function renderMeta(
  settings: MetaSettings,
  mapped: MappedEvent,
  conversion: ConversionToSend,
  now: number,
): RenderedEvent {
  if (now - conversion.happened_ms > MAX_AGE_MS) return { skip: 'older than the 7 days that Meta accepts' }
  const customData = customDataOf(settings, mapped, conversion)
  if (mapped.name === META_PURCHASE && customData['value'] === undefined)
    return { skip: 'a Purchase needs a value, and neither the conversion nor the event map has one' }
  return {
    event: {
      event_name: mapped.name,
      event_time: Math.floor(conversion.happened_ms / 1000),
      event_id: conversion.event_id,
      ...actionSourceOf(settings, conversion),
      user_data: userOf(settings, conversion, now),
      ...(Object.keys(customData).length === 0 ? {} : { custom_data: customData }),
    },
  }
}

/** A website event must have a page and a user agent; without them it is reported as system_generated. */
function actionSourceOf({ action_source }: MetaSettings, { type, is_chat, page_url, click }: ConversionToSend) {
  const isRenewal = type === 'subscription_renewed' || type === 'subscription_cancelled'
  const fitting = isRenewal ? 'system_generated' : is_chat ? 'chat' : 'website'
  const source = action_source === 'automatic' ? fitting : action_source
  if (source !== 'website') return { action_source: source }
  if (page_url === null || click.user_agent === null) return { action_source: 'system_generated' }
  return { action_source: source, event_source_url: page_url }
}

function userOf(settings: MetaSettings, { person_id, contact, click }: ConversionToSend, now: number) {
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

/** In the format of Meta's own cookie: the click's time in milliseconds, and its id unchanged. */
function fbcOf({ fbclid, made_ms }: ConversionToSend['click'], now: number): string | null {
  return fbclid === null || now - made_ms > CLICK_ID_LIFETIME_MS ? null : `fb.1.${made_ms}.${fbclid}`
}

function customDataOf(
  { use_payout_as_value }: MetaSettings,
  mapped: MappedEvent,
  { payout }: ConversionToSend,
): Record<string, unknown> {
  const { value, predicted_ltv, ...block } = mapped.custom_data ?? {}
  const custom = {
    ...block,
    ...(value === undefined ? {} : { value: Number(value) }),
    ...(predicted_ltv === undefined ? {} : { predicted_ltv: Number(predicted_ltv) }),
  }
  return use_payout_as_value && payout !== null ? { ...custom, value: Number(payout), currency: 'USD' } : custom
}

/** The request for one event. The token is sent in the body, because addresses end up in the logs of proxies. */
function callMeta({ settings, event, credential, access, test }: EventToSend<MetaSettings>): Outgoing {
  const { metaGraphBase, metaGraphVersion } = access.config
  const body = { data: [event], test_event_code: test?.test_event_code }
  return {
    method: 'POST',
    url: `${metaGraphBase}/${metaGraphVersion}/${settings.pixel_id}/events`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, access_token: credential }),
    isTrusted: true,
    shown: { body: JSON.stringify(body) },
    secrets: [credential],
    judge: judgeMeta,
  }
}

/** Error codes worth a retry: faults of Meta, and rate limits. */
const PASSING_CODES = new Set([1, 2, 4, 17, 32, 341, 368, 613, 5000, 21009, 80003, 80004])
/** Error codes of an invalid or expired token. */
const TOKEN_CODES = new Set([102, 190])
/** Error codes of a missing permission of the token's owner or app. */
const PERMISSION_CODES = new Set([3, 10, 200, 294])
/** The error of a dataset that does not exist or that the token cannot access. */
const NOT_FOUND = { code: 100, subcode: 33 }

/** Judges an answer by Meta's code rather than the HTTP status, which is 500 for permanent refusals too. */
export function judgeMeta(answer: CallAnswer): Judgement {
  const body = jsonOf(answer)
  if (body === undefined) return judgeUnreadable(answer)
  const isTaken = answer.status !== null && answer.status >= 200 && answer.status < 300
  if (isTaken && body['error'] === undefined && Number(body['events_received']) >= 1) return { outcome: 'delivered' }
  if (body['error'] === undefined) return judgeUnreadable(answer)
  const error = fieldsOf(body['error'])
  const [code, subcode] = [Number(error['code']), Number(error['error_subcode'])]
  const reason = reasonOf(error)
  if (TOKEN_CODES.has(code) || PERMISSION_CODES.has(code)) return { outcome: 'broken', reason }
  if (code === NOT_FOUND.code && subcode === NOT_FOUND.subcode) return { outcome: 'broken', reason }
  if (error['is_transient'] === true || PASSING_CODES.has(code)) return { outcome: 'retry', reason }
  if (code === 100 || code === 105 || (subcode >= 2_804_000 && subcode < 2_805_000))
    return { outcome: 'failed', reason }
  return { outcome: 'retry', reason }
}

function reasonOf(error: Readonly<Record<string, unknown>>): string {
  const { code, error_subcode, message, error_user_title, error_user_msg } = error
  const name = `Meta ${[code, error_subcode].filter(number => typeof number === 'number').join('/')}`
  const words = [error_user_title, error_user_msg ?? message].filter(text => typeof text === 'string' && text !== '')
  return `${name}: ${words.join(': ') || 'no message'}`
}

export const metaAdapter: Adapter<MetaSettings> = {
  max_age_days: MAX_AGE_DAYS,
  acceptsCorrections: false,
  needsTestCode: true,
  render: renderMeta,
  call: callMeta,
}
