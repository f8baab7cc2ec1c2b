/** Test events: sends one event immediately and returns the platform's answer. Reads `ad_accounts` and clicks; changes nothing. */
import type { Call } from '../../contract/endpoint.ts'
import type { EventType } from '../../contract/event-types.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { type Context, idOf } from '../../ground/room.ts'
import type { Judgement, Outgoing } from '../deliveries/lane.ts'
import { redact } from '../deliveries/redact.ts'
import type * as api from './api.ts'
import { callAtOnce } from './asking.ts'
import {
  PLATFORM_CLICK_COLUMNS,
  type ClickRow,
  type ConversionRow,
  conversionOf,
  JOIN_PAGE,
} from '../ad-accounts/conversion.ts'
import { openGoogleTokens } from '../ad-accounts/google-token.ts'
import { adapterOf, type ReportingAccount, reportingCall } from '../ad-accounts/platforms.ts'

const READ_CLICK = `
  select ${PLATFORM_CLICK_COLUMNS}
  from clicks c${JOIN_PAGE}
  where c.org_id = $1 and c.id = $2`

/** The data of a made-up visit. Its click ids are well formed and belong to nobody. */
const SAMPLE = {
  fbclid: 'IwSluiceTest0123456789',
  gclid: 'SluiceTest0123456789',
  gbraid: null,
  wbraid: null,
  ttclid: 'E.C.P.SluiceTest0123456789',
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
  ip_encrypted: null,
} satisfies Partial<ClickRow>

/**
 * Sends a test event and returns the answer. Refuses `invalid_request` for an unknown click, and without the test code that keeps the event out of
 * the advertiser's figures at Meta and TikTok.
 */
export async function testAdAccount(
  context: Context<typeof api.testAdAccount>,
  { params, body }: Call<typeof api.testAdAccount>,
) {
  const { config, secrets } = context
  const { credential, ...account } = await readAccount(context, idOf(params.id))
  const test_event_code = body.test_event_code ?? undefined
  if (adapterOf(account.platform).needsTestCode && test_event_code === undefined)
    refuse('invalid_request', {
      error: 'test_event_code: is required',
      hint: 'Copy it from the test page of the Events Manager. Without it the event would count as a real one.',
    })
  const website_url = 'website_url' in account.settings ? account.settings.website_url : null
  const conversion = conversionOf(await readConversion(context, body.event_type, body.click_id), website_url, secrets)
  const access = { config, tokens: openGoogleTokens(config.googleTokenUrl) }
  const terms = { access, now: Date.now(), test: { test_event_code } }
  const composed = reportingCall(account, secrets.open(credential), conversion, terms)
  if ('skip' in composed) return { accepted: false, reason: composed.skip, status: null, sent: null, answer: null }
  return await sendTest(composed.call)
}

type TestContext = Pick<Context<typeof api.testAdAccount>, 'db' | 'database' | 'actor' | 'config'>

async function readAccount({ db, actor }: TestContext, id: string): Promise<ReportingAccount & { credential: Buffer }> {
  const row = await db
    .selectFrom('ad_accounts')
    .select(['platform', 'settings', 'event_map', 'credential'])
    .where('org_id', '=', actor.org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .$castTo<ReportingAccount & { credential: Buffer }>()
    .executeTakeFirst()
  return row ?? refuse('object_not_found')
}

async function readConversion(
  context: TestContext,
  type: EventType,
  click_id: string | null | undefined,
): Promise<ConversionRow> {
  const { config } = context
  const event = {
    event_id: newId(),
    type,
    happened_ms: Date.now(),
    payout: '1',
    person_id: newId(),
    source: 'dashboard',
    email: null,
    phone: null,
  }
  if (click_id == null) {
    const led_to = config.baseUrl ?? 'https://www.example.com/'
    return { ...event, ...SAMPLE, click_id: newId(), led_to }
  }
  const { rows } = await context.database.reads.query<ClickRow>(READ_CLICK, [context.actor.org_id, click_id])
  const [click] = rows
  return click === undefined ? refuse('invalid_request', { error: 'click_id: no such click' }) : { ...event, ...click }
}

/** Makes the call as the worker would, and returns the answer without the credential. */
async function sendTest(call: Outgoing) {
  const ready = (await call.complete?.(callAtOnce)) ?? call
  if ('outcome' in ready) return { ...verdictOf(ready), status: null, sent: null, answer: null }
  const answer = await callAtOnce(ready)
  const secrets = [...(call.secrets ?? []), ...(ready.secrets ?? [])]
  const verdict = verdictOf(ready.judge?.(answer) ?? { outcome: 'retry' })
  return {
    accepted: verdict.accepted,
    reason: redact(verdict.reason, secrets),
    status: answer.status,
    sent: redact(call.shown?.body ?? null, secrets),
    answer: redact(answer.body === '' ? null : answer.body, secrets),
  }
}

function verdictOf({ outcome, reason }: Judgement): { accepted: boolean; reason: string | null } {
  return outcome === 'delivered'
    ? { accepted: true, reason: null }
    : { accepted: false, reason: reason ?? 'not accepted' }
}
