// The demo's Meta account and the conversions reported to it. It is switched off at the end, so that Sluice never calls Meta with the made-up token.

import { DEFAULT_MAPS } from '../src/contract/ad-platforms.ts'
import { DAY_MS } from '../src/contract/days.ts'
import type { EventType } from '../src/contract/event-types.ts'
import { newId } from '../src/contract/ids.ts'
import type { Ground } from '../src/ground/room.ts'
import { conversionOf } from '../src/outgoing/ad-accounts/conversion.ts'
import { openGoogleTokens } from '../src/outgoing/ad-accounts/google-token.ts'
import { type ReportingAccount, reportingCall } from '../src/outgoing/ad-accounts/platforms.ts'
import type { Outgoing } from '../src/outgoing/deliveries/lane.ts'
import { redact, loggedCall } from '../src/outgoing/deliveries/redact.ts'
import { type Chance, letters } from './chance.ts'
import type { Founding } from './objects.ts'
import type { DemoClick } from './traffic.ts'
import type { PlacedAccount } from './world.ts'

const NAME = 'Demo Media dataset (made up)'
const TOKEN = 'EAADEMOthisIsNoTokenOfAnyMetaApp'
/** The day it was connected, in days before today. */
const CONNECTED_BEFORE = 75

const EVENT_MAP = DEFAULT_MAPS.meta
const SETTINGS = {
  pixel_id: '100000000000000',
  use_payout_as_value: true,
  action_source: 'automatic',
  keeps_ip: false,
  sends_contact: false,
  website_url: null,
} as const

/** Whether conversions of this type are reported to the account. */
export const isReported = (type: EventType): boolean => type in EVENT_MAP

export async function placeAccount({ trx, org_id, today, times, secrets }: Founding): Promise<PlacedAccount> {
  const since = today - CONNECTED_BEFORE * DAY_MS
  const id = newId(since)
  await trx
    .insertInto('ad_accounts')
    .values({
      org_id,
      id,
      platform: 'meta',
      name: NAME,
      settings: JSON.stringify(SETTINGS),
      credential: secrets.seal(TOKEN),
      credential_hint: `…${TOKEN.slice(-4)}`,
      event_map: JSON.stringify(EVENT_MAP),
      state: 'off',
      state_changed_at: times.updated_at,
      created_at: new Date(since).toISOString(),
      updated_at: times.updated_at,
    })
    .execute()
  return { id, since }
}

/** A conversion as it is reported to the account. */
export type ReportedConversion = {
  id: string
  type: EventType
  ms: number
  payout: string | null
  person_id: string
  source: string
  click: DemoClick
  /** The destination of its click's campaign. */
  led_to: string
}

/** A call as the log of attempts stores it. */
export type CallAttempt = {
  ms: number
  method: string
  url: string
  body: string | null
  status: number
  answer: string
}
type ReportOutcome = {
  tries: CallAttempt[]
  state: 'delivered' | 'failed'
  reason: string | null
  failure: 'rejected' | null
}

/** Returns a function that composes the calls for a conversion and judges their answers, like the lane. */
export function openReporting({ config, secrets }: Pick<Ground, 'config' | 'secrets'>, chance: Chance) {
  const account: ReportingAccount = { platform: 'meta', settings: SETTINGS, event_map: EVENT_MAP }
  const access = { config, tokens: openGoogleTokens(config.googleTokenUrl) }
  return (reported: ReportedConversion, begun: number): ReportOutcome => {
    const { click, type, payout, person_id, source, led_to } = reported
    const row = { ...click, event_id: reported.id, type, payout, person_id, source, led_to, happened_ms: reported.ms }
    const unknown = { click_id: click.id, email: null, phone: null, ip_encrypted: null }
    const conversion = conversionOf({ ...row, ...unknown }, null, secrets)
    const composed = reportingCall(account, TOKEN, conversion, { access, now: begun })
    if ('skip' in composed) throw new Error(`the demo reports a conversion that Meta does not accept: ${composed.skip}`)
    return outcomeOf(composed.call, answersTo(chance, click), begun, chance)
  }
}

type MetaAnswer = { status: number; body: Readonly<Record<string, unknown>> }

const TAKEN: MetaAnswer = { status: 200, body: { events_received: 1, messages: [] } }
const BUSY: MetaAnswer = {
  status: 500,
  body: {
    error: {
      message: 'An unexpected error has occurred. Please retry your request later.',
      type: 'OAuthException',
      is_transient: true,
      code: 2,
    },
  },
}
const TOO_BROAD: MetaAnswer = {
  status: 400,
  body: {
    error: {
      message: 'Invalid parameter',
      type: 'OAuthException',
      code: 100,
      error_subcode: 2804050,
      is_transient: false,
      error_user_title: 'Insufficient customer information',
      error_user_msg: 'This event has a combination of customer information parameters that is too broad for matching.',
    },
  },
}
/** The share of calls that Meta asks to retry. */
const RETRIED_SHARE = 0.02
const RETRY_MS = 5000

/** Without an ad click's id Meta cannot match the conversion and refuses it. */
function answersTo(chance: Chance, { fbclid }: DemoClick): MetaAnswer[] {
  const last = fbclid === null ? TOO_BROAD : TAKEN
  return chance() < RETRIED_SHARE ? [BUSY, last] : [last]
}

function outcomeOf(call: Outgoing, answers: readonly MetaAnswer[], begun: number, chance: Chance): ReportOutcome {
  const shown = loggedCall(call)
  const tries = answers.map(({ status, body }, at): CallAttempt => {
    const trace = { fbtrace_id: `A${letters(chance, 22)}` }
    const answer = JSON.stringify(
      'error' in body ? { error: { ...(body['error'] as object), ...trace } } : { ...body, ...trace },
    )
    return { ms: begun + at * RETRY_MS, method: call.method, ...shown, status, answer }
  })
  const last = tries.at(-1)
  const judged = call.judge?.({ status: last?.status ?? null, headers: {}, body: last?.answer ?? '', error: null })
  if (judged?.outcome === 'delivered') return { tries, state: 'delivered', reason: null, failure: null }
  if (judged?.outcome !== 'failed') throw new Error(`the demo's Meta answers what is tried again: ${last?.answer}`)
  return { tries, state: 'failed', reason: redact(judged.reason ?? '', call.secrets), failure: 'rejected' }
}
