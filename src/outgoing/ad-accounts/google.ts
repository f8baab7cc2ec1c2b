/**
 * Google Data Manager API, which takes conversions imported from clicks. The value is the payout in USD. An accepted event is counted or
 * refused some time later, so an accepted request is what `delivered` means here.
 */
import { DAY_MS } from '../../contract/days.ts'
import { fieldsOf } from '../../contract/json.ts'
import type { Answer, Judgement, Outgoing } from '../deliveries/lane.ts'
import { type Conversion, jsonOf, type Mapped, type Rendered, unreadable } from './adapter.ts'
import type { GoogleSettings } from './api.ts'
import { googleEmail, phoneDigits, sha256 } from './hashing.ts'

/** The longest time between a click and its conversion that an action can be set to. */
const OLDEST_MS = 90 * DAY_MS

/** A conversion as an event of the Data Manager API, or why none is sent. `now` is Unix ms, so that what has become too old is seen. */
export function renderGoogle(settings: GoogleSettings, conversion: Conversion, now: number): Rendered {
  const { click, payout, happened_ms, event_id } = conversion
  const adIdentifiers = identifierOf(click)
  const userIdentifiers = settings.sends_contact ? contactOf(conversion.contact) : []
  if (adIdentifiers === undefined && userIdentifiers.length === 0)
    return { skip: 'the click carries no click id of Google (gclid, wbraid or gbraid)' }
  if (happened_ms - click.made_ms > OLDEST_MS || now - happened_ms > OLDEST_MS)
    return { skip: 'older than the 90 days that Google takes' }
  return {
    event: {
      transactionId: event_id,
      eventTimestamp: new Date(happened_ms).toISOString(),
      eventSource: 'WEB',
      ...(adIdentifiers === undefined ? {} : { adIdentifiers }),
      ...(userIdentifiers.length === 0 ? {} : { userData: { userIdentifiers } }),
      ...(payout === null ? {} : { conversionValue: Number(payout), currency: 'USD' }),
    },
  }
}

/** Exactly one: gbraid and wbraid together were an error before, and nobody has said that it has changed. */
function identifierOf({ gclid, wbraid, gbraid }: Conversion['click']) {
  if (gclid !== null) return { gclid }
  if (wbraid !== null) return { wbraid }
  return gbraid === null ? undefined : { gbraid }
}

function contactOf({ email, phone }: Conversion['contact']): object[] {
  const [address, digits] = [googleEmail(email), phoneDigits(phone)]
  return [
    ...(address === null ? [] : [{ emailAddress: sha256(address) }]),
    ...(digits === null ? [] : [{ phoneNumber: sha256(`+${digits}`) }]),
  ]
}

const CONSENT = { granted: 'CONSENT_GRANTED', denied: 'CONSENT_DENIED' } as const

type Sending = { readonly base: string; readonly access_token: string; readonly is_test?: boolean }

/** The request for one event. With `is_test` Google only checks it. */
export function callGoogle(
  settings: GoogleSettings,
  { name }: Mapped,
  event: Readonly<Record<string, unknown>>,
  { base, access_token, is_test = false }: Sending,
): Outgoing {
  const { customer_id, login_customer_id } = settings
  const accountType = 'GOOGLE_ADS'
  const login = login_customer_id === null ? {} : { loginAccount: { accountType, accountId: login_customer_id } }
  const body = {
    destinations: [
      {
        reference: 'conversions',
        operatingAccount: { accountType, accountId: customer_id },
        ...login,
        productDestinationId: name,
      },
    ],
    ...consentOf(settings),
    events: [event],
    ...('userData' in event ? { encoding: 'HEX' } : {}),
    validateOnly: is_test,
  }
  return {
    method: 'POST',
    url: `${base}/v1/events:ingest`,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${access_token}` },
    body: JSON.stringify(body),
    isTrusted: true,
    shown: { body: JSON.stringify(body) },
    secrets: [access_token],
  }
}

/** Nothing is claimed of visitors that the advertiser has not said. */
function consentOf({ ad_user_data, ad_personalization }: GoogleSettings) {
  const consent = {
    ...(ad_user_data === 'unspecified' ? {} : { adUserData: CONSENT[ad_user_data] }),
    ...(ad_personalization === 'unspecified' ? {} : { adPersonalization: CONSENT[ad_personalization] }),
  }
  return Object.keys(consent).length === 0 ? {} : { consent }
}

const PASSING = new Set([408, 429, 500, 502, 503, 504])
/** The access token, which lives an hour, has ended early: the next attempt gets a new one. */
const TOKEN_ENDED = 401
const FORBIDDEN = 403
/** Refusals of the account as a whole, though Google calls them faults of the request. */
const ACCOUNT_REASONS = /ACCOUNT_MISMATCH|NOT_ALLOWLISTED|PERMISSION_DENIED|INVALID_(OPERATING|LOGIN)_ACCOUNT/

/** Answers are a `requestId`, or a google.rpc.Status whose details name the reason and the fields at fault. */
export function judgeGoogle(answer: Answer): Judgement {
  const { status } = answer
  const body = jsonOf(answer)
  if (status === null || body === undefined) return unreadable(answer)
  if (status >= 200 && status < 300)
    return typeof body['requestId'] === 'string' ? { outcome: 'delivered' } : unreadable(answer)
  if (body['error'] === undefined) return unreadable(answer)
  const { words, reasons } = readStatus(fieldsOf(body['error']))
  const reason = `Google ${status}: ${words}`
  if (PASSING.has(status) || status === TOKEN_ENDED) return { outcome: 'retry', reason }
  const isAccount = status === FORBIDDEN || reasons.some(one => ACCOUNT_REASONS.test(one))
  return { outcome: isAccount ? 'broken' : 'failed', reason }
}

function readStatus(error: Readonly<Record<string, unknown>>): { words: string; reasons: string[] } {
  const details = (Array.isArray(error['details']) ? error['details'] : []).map(fieldsOf)
  const reasons = details.flatMap(({ reason }) => (typeof reason === 'string' ? [reason] : []))
  const faults = details.flatMap(({ fieldViolations }) =>
    (Array.isArray(fieldViolations) ? fieldViolations : []).map(fieldsOf).map(violation => {
      const { field, reason, description } = violation
      if (typeof reason === 'string') reasons.push(reason)
      return [field, description ?? reason].filter(part => typeof part === 'string').join(': ')
    }),
  )
  const message = typeof error['message'] === 'string' ? error['message'] : 'no words'
  return { words: [...reasons.slice(0, 3), message, ...faults.slice(0, 3)].join('; '), reasons }
}
