/**
 * The adapter of Google's Data Manager API. The value is the payout in USD. Google counts or refuses an accepted event some time later, so
 * `delivered` means here that the request was accepted.
 */
import { DAY_MS } from '../../contract/days.ts'
import { fieldsOf } from '../../contract/json.ts'
import type { CallAnswer, Judgement, Outgoing } from '../deliveries/lane.ts'
import {
  type Adapter,
  type ConversionToSend,
  type EventToSend,
  jsonOf,
  judgeUnreadable,
  type RenderedEvent,
} from './adapter.ts'
import type { GoogleSettings } from './api.ts'
import { googleEmail, phoneDigits, sha256 } from './hashing.ts'

/** The longest window between click and conversion that a conversion action allows. */
const MAX_AGE_DAYS = 90
const MAX_AGE_MS = MAX_AGE_DAYS * DAY_MS

/** A conversion as an event of the Data Manager API, or why it is not sent. `now` in Unix ms decides whether it is too old. */
export function renderGoogle(settings: GoogleSettings, conversion: ConversionToSend, now: number): RenderedEvent {
  const { click, payout, happened_ms, event_id } = conversion
  const adIdentifiers = identifierOf(click)
  const userIdentifiers = settings.sends_contact ? contactOf(conversion.contact) : []
  if (adIdentifiers === undefined && userIdentifiers.length === 0)
    return { skip: 'the click has no Google click id (gclid, wbraid or gbraid)' }
  if (happened_ms - click.made_ms > MAX_AGE_MS || now - happened_ms > MAX_AGE_MS)
    return { skip: 'older than the 90 days that Google accepts' }
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

/** Exactly one id: Google's earlier API refused gbraid and wbraid together. */
function identifierOf({ gclid, wbraid, gbraid }: ConversionToSend['click']) {
  if (gclid !== null) return { gclid }
  if (wbraid !== null) return { wbraid }
  return gbraid === null ? undefined : { gbraid }
}

function contactOf({ email, phone }: ConversionToSend['contact']): object[] {
  const [address, digits] = [googleEmail(email), phoneDigits(phone)]
  return [
    ...(address === null ? [] : [{ emailAddress: sha256(address) }]),
    ...(digits === null ? [] : [{ phoneNumber: sha256(`+${digits}`) }]),
  ]
}

const CONSENT = { granted: 'CONSENT_GRANTED', denied: 'CONSENT_DENIED' } as const

/** The request for one event, without its access token. Google only validates a test event. */
function requestTo({ settings, mapped, event, access, test }: EventToSend<GoogleSettings>) {
  const { customer_id, login_customer_id } = settings
  const accountType = 'GOOGLE_ADS'
  const login = login_customer_id === null ? {} : { loginAccount: { accountType, accountId: login_customer_id } }
  const body = JSON.stringify({
    destinations: [
      {
        reference: 'conversions',
        operatingAccount: { accountType, accountId: customer_id },
        ...login,
        productDestinationId: mapped.name,
      },
    ],
    ...consentOf(settings),
    events: [event],
    ...('userData' in event ? { encoding: 'HEX' } : {}),
    validateOnly: test !== undefined,
  })
  const url = `${access.config.googleDmBase}/v1/events:ingest`
  return { method: 'POST', url, body, isTrusted: true, shown: { body } } as const
}

/** The call for one event. It fetches the access token just before the request, and drops a token that Google refuses. */
function callGoogle(sending: EventToSend<GoogleSettings>): Outgoing {
  const { credential, access } = sending
  const request = requestTo(sending)
  return {
    ...request,
    async complete(fetch) {
      const token = await access.tokens.tokenFor(credential, fetch)
      if (typeof token !== 'string') return token
      return {
        ...request,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        secrets: [token],
        judge(answer) {
          if (answer.status === TOKEN_EXPIRED) access.tokens.forget(credential)
          return judgeGoogle(answer)
        },
      }
    },
  }
}

/** The consent fields that the advertiser has set. */
function consentOf({ ad_user_data, ad_personalization }: GoogleSettings) {
  const consent = {
    ...(ad_user_data === 'unspecified' ? {} : { adUserData: CONSENT[ad_user_data] }),
    ...(ad_personalization === 'unspecified' ? {} : { adPersonalization: CONSENT[ad_personalization] }),
  }
  return Object.keys(consent).length === 0 ? {} : { consent }
}

const PASSING_STATUSES = new Set([408, 429, 500, 502, 503, 504])
/** The status of an expired or revoked access token; the next attempt gets a new one. */
const TOKEN_EXPIRED = 401
const FORBIDDEN = 403
/** Reasons that concern the whole account although Google reports them as errors of the request. */
const ACCOUNT_REASONS = /ACCOUNT_MISMATCH|NOT_ALLOWLISTED|PERMISSION_DENIED|INVALID_(OPERATING|LOGIN)_ACCOUNT/

/** Judges an answer: it has a `requestId`, or is a google.rpc.Status whose details name the reason and the wrong fields. */
export function judgeGoogle(answer: CallAnswer): Judgement {
  const { status } = answer
  const body = jsonOf(answer)
  if (status === null || body === undefined) return judgeUnreadable(answer)
  if (status >= 200 && status < 300)
    return typeof body['requestId'] === 'string' ? { outcome: 'delivered' } : judgeUnreadable(answer)
  if (body['error'] === undefined) return judgeUnreadable(answer)
  const { words, reasons } = readStatus(fieldsOf(body['error']))
  const reason = `Google ${status}: ${words}`
  if (PASSING_STATUSES.has(status) || status === TOKEN_EXPIRED) return { outcome: 'retry', reason }
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
  const message = typeof error['message'] === 'string' ? error['message'] : 'no message'
  return { words: [...reasons.slice(0, 3), message, ...faults.slice(0, 3)].join('; '), reasons }
}

export const googleAdapter: Adapter<GoogleSettings> = {
  max_age_days: MAX_AGE_DAYS,
  acceptsCorrections: true,
  needsTestCode: false,
  render: (settings, _mapped, conversion, now) => renderGoogle(settings, conversion, now),
  call: callGoogle,
}
