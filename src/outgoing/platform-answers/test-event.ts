/** Test events: one event, sent at once, and what the platform says to it. Reads `ad_accounts` and clicks; changes nothing. */
import type { Call } from '../../contract/endpoint.ts'
import type { EventType } from '../../contract/event-types.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { type Context, idOf } from '../../ground/room.ts'
import type { Judgement, Outgoing } from '../deliveries/lane.ts'
import { redact } from '../deliveries/redact.ts'
import type * as api from './api.ts'
import { askAtOnce } from './asking.ts'
import { CLICK_COLUMNS, type ClickRow, type ConversionRow, conversionOf, JOIN_PAGE } from '../ad-accounts/conversion.ts'
import { openGoogleTokens } from '../ad-accounts/google-token.ts'
import { type Account, callFor } from '../ad-accounts/platforms.ts'

const READ_CLICK = `
  select ${CLICK_COLUMNS}
  from clicks c${JOIN_PAGE}
  where c.org_id = $1 and c.id = $2`

/** What a made-up visit knows; its click ids are well formed and nobody's. */
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
 * Sends a test event and answers what came of it. Refuses `invalid_request` for a click that is not there, and where the platform needs
 * a test code to keep the event out of the advertiser's figures.
 */
export async function testAdAccount(
  context: Context<typeof api.testAdAccount>,
  { params, body }: Call<typeof api.testAdAccount>,
) {
  const { config, secrets } = context
  const { credential, ...account } = await sealedAccountOf(context, idOf(params.id))
  const test_event_code = body.test_event_code ?? undefined
  if (account.platform !== 'google' && test_event_code === undefined)
    refuse('invalid_request', {
      error: 'test_event_code: is needed',
      hint: 'Copy it from the test page of the Events Manager. Without it the event would count as a real one.',
    })
  const website_url = 'website_url' in account.settings ? account.settings.website_url : null
  const conversion = conversionOf(await factsOf(context, body.event_type, body.click_id), website_url, secrets)
  const ways = { config, tokens: openGoogleTokens(config.googleTokenUrl) }
  const made = callFor(account, secrets.open(credential), conversion, ways, Date.now(), { test_event_code })
  if ('skip' in made) return { accepted: false, reason: made.skip, status: null, sent: null, answer: null }
  return await told(made.call)
}

type Testing = Pick<Context<typeof api.testAdAccount>, 'db' | 'database' | 'actor' | 'config'>

async function sealedAccountOf({ db, actor }: Testing, id: string): Promise<Account & { credential: Buffer }> {
  const row = await db
    .selectFrom('ad_accounts')
    .select(['platform', 'settings', 'event_map', 'credential'])
    .where('org_id', '=', actor.org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .$castTo<Account & { credential: Buffer }>()
    .executeTakeFirst()
  return row ?? refuse('object_not_found')
}

async function factsOf(testing: Testing, type: EventType, click_id: string | null | undefined): Promise<ConversionRow> {
  const { config } = testing
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
  const { rows } = await testing.database.reads.query<ClickRow>(READ_CLICK, [testing.actor.org_id, click_id])
  const [click] = rows
  return click === undefined ? refuse('invalid_request', { error: 'click_id: no such click' }) : { ...event, ...click }
}

/** Makes the call as the worker would, and says what came of it without the credential. */
async function told(call: Outgoing) {
  const ready = (await call.complete?.(askAtOnce)) ?? call
  if ('outcome' in ready) return { ...verdictOf(ready), status: null, sent: null, answer: null }
  const answer = await askAtOnce(ready)
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
