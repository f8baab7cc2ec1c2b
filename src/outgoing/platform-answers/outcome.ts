/**
 * What Google has made of a conversion it had accepted: it matches some time after its answer, and is asked when someone wants to know.
 * Reads `ad_accounts` and the log of deliveries; changes nothing.
 */
import type { Call } from '../../contract/endpoint.ts'
import { fieldsOf } from '../../contract/json.ts'
import { refuse } from '../../contract/refusals.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { redact } from '../deliveries/redact.ts'
import { jsonOf } from '../ad-accounts/adapter.ts'
import type * as api from './api.ts'
import { askAtOnce } from './asking.ts'
import { openGoogleTokens } from '../ad-accounts/google-token.ts'

type Asking = Context<typeof api.readOutcome>

/** Refuses `object_not_found`, and `invalid_request` for a delivery that Google has not accepted. */
export async function readOutcome(context: Asking, { params }: Call<typeof api.readOutcome>) {
  const { config, secrets } = context
  const { credential, answer } = await acceptedOf(context, params.id, params.delivery_id)
  const request_id = requestIdOf(answer)
  if (request_id === undefined)
    refuse('invalid_request', {
      error: 'delivery_id: Google has not accepted this delivery',
      hint: 'Only accepted conversions of a Google Ads account can be asked about, while the log of their attempts is kept.',
    })
  const token = await openGoogleTokens(config.googleTokenUrl).tokenFor(secrets.open(credential), askAtOnce)
  if (typeof token !== 'string') return { state: 'unknown' as const, reasons: [token.reason ?? 'no access token'] }
  const asked = await askAtOnce({
    method: 'GET',
    url: `${config.googleDmBase}/v1/requestStatus:retrieve?requestId=${encodeURIComponent(request_id)}`,
    headers: { authorization: `Bearer ${token}` },
    isTrusted: true,
  })
  const read = outcomeOf(jsonOf(asked)?.['requestStatusPerDestination'])
  if (asked.status === 200 && read !== undefined) return read
  const words = fieldsOf(jsonOf(asked)?.['error'])['message'] ?? asked.error ?? `HTTP ${asked.status}`
  return { state: 'unknown' as const, reasons: [redact(typeof words === 'string' ? words : 'no words', [token])] }
}

/** The credential of a Google account, and the last answer that was a success. */
async function acceptedOf({ db, actor }: Asking, account: string, delivery: string) {
  const id = idOf(account)
  const delivery_id = idOf(delivery)
  const row = await db
    .selectFrom('deliveries as d')
    .innerJoin('ad_accounts as a', join => join.onRef('a.org_id', '=', 'd.org_id').onRef('a.id', '=', 'd.target_id'))
    .leftJoin('delivery_attempts as t', join =>
      join.onRef('t.org_id', '=', 'd.org_id').onRef('t.delivery_id', '=', 'd.id').on('t.status', '=', 200),
    )
    .select(['a.credential', 'a.platform', 't.answer'])
    .where('d.org_id', '=', actor.org_id)
    .where('d.id', '=', delivery_id)
    .where('a.id', '=', id)
    .where('a.deleted_at', 'is', null)
    .orderBy('t.number', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (row === undefined) refuse('object_not_found')
  return { credential: row.credential, answer: row.platform === 'google' ? row.answer : null }
}

function requestIdOf(answer: string | null): string | undefined {
  const id = jsonOf({ status: 200, headers: {}, body: answer ?? '', error: null })?.['requestId']
  return typeof id === 'string' ? id : undefined
}

/** Google keeps its list of reasons open, so they are shown as they come, without the prefix they all have. */
function outcomeOf(value: unknown): { state: 'processing' | 'counted' | 'refused'; reasons: string[] } | undefined {
  const [destination] = Array.isArray(value) ? value.map(fieldsOf) : []
  const status = destination?.['requestStatus']
  if (destination === undefined || typeof status !== 'string') return undefined
  const reasons = [
    ...namesOf(fieldsOf(destination['errorInfo'])['errorCounts']),
    ...namesOf(fieldsOf(destination['warningInfo'])['warningCounts']),
  ]
  if (status === 'PROCESSING') return { state: 'processing', reasons }
  // A double is what the event id is for: it has been counted before.
  const isDouble = reasons.length > 0 && reasons.every(reason => DOUBLES.has(reason))
  return { state: status === 'SUCCESS' || isDouble ? 'counted' : 'refused', reasons }
}

const DOUBLES = new Set(['DUPLICATE_TRANSACTION_ID', 'DUPLICATE_GCLID'])

function namesOf(counts: unknown): string[] {
  return (Array.isArray(counts) ? counts.map(fieldsOf) : []).flatMap(({ reason }) =>
    typeof reason === 'string' ? [reason.replace(/^PROCESSING_(ERROR|WARNING)_(REASON_)?/, '')] : [],
  )
}
