/**
 * Reads Google's result for a conversion it accepted. Google matches conversions some time after its answer, so it is asked on demand. Reads
 * `ad_accounts` and the log of attempts; changes nothing.
 */
import type { Call } from '../../contract/endpoint.ts'
import { fieldsOf } from '../../contract/json.ts'
import { refuse } from '../../contract/refusals.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { redact } from '../deliveries/redact.ts'
import { jsonOf } from '../ad-accounts/adapter.ts'
import type * as api from './api.ts'
import { callAtOnce } from './asking.ts'
import { openGoogleTokens } from '../ad-accounts/google-token.ts'

type OutcomeContext = Context<typeof api.readOutcome>

/** Asks Google for the result of a delivery. Refuses `object_not_found`, and `invalid_request` for a delivery that Google has not accepted. */
export async function readOutcome(context: OutcomeContext, { params }: Call<typeof api.readOutcome>) {
  const { config, secrets } = context
  const { credential, answer } = await acceptedAnswer(context, params.id, params.delivery_id)
  const request_id = requestIdOf(answer)
  if (request_id === undefined)
    refuse('invalid_request', {
      error: 'delivery_id: Google has not accepted this delivery',
      hint: 'A result exists only for accepted conversions of a Google Ads account, while the log of their attempts is kept.',
    })
  const token = await openGoogleTokens(config.googleTokenUrl).tokenFor(secrets.open(credential), callAtOnce)
  if (typeof token !== 'string') return { state: 'unknown' as const, reasons: [token.reason ?? 'no access token'] }
  const answered = await callAtOnce({
    method: 'GET',
    url: `${config.googleDmBase}/v1/requestStatus:retrieve?requestId=${encodeURIComponent(request_id)}`,
    headers: { authorization: `Bearer ${token}` },
    isTrusted: true,
  })
  const read = outcomeOf(jsonOf(answered)?.['requestStatusPerDestination'])
  if (answered.status === 200 && read !== undefined) return read
  const words = fieldsOf(jsonOf(answered)?.['error'])['message'] ?? answered.error ?? `HTTP ${answered.status}`
  return { state: 'unknown' as const, reasons: [redact(typeof words === 'string' ? words : 'no message', [token])] }
}

/** The account's credential, and the last successful answer if it is a Google account. */
async function acceptedAnswer({ db, actor }: OutcomeContext, account: string, delivery: string) {
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

/** The result in Google's answer. Its reasons are shown as they are, without their common prefix, because their list is not fixed. */
function outcomeOf(value: unknown): { state: 'processing' | 'counted' | 'refused'; reasons: string[] } | undefined {
  const [destination] = Array.isArray(value) ? value.map(fieldsOf) : []
  const status = destination?.['requestStatus']
  if (destination === undefined || typeof status !== 'string') return undefined
  const reasons = [
    ...reasonNames(fieldsOf(destination['errorInfo'])['errorCounts']),
    ...reasonNames(fieldsOf(destination['warningInfo'])['warningCounts']),
  ]
  if (status === 'PROCESSING') return { state: 'processing', reasons }
  // A duplicate means that the event id was counted before.
  const isDuplicate = reasons.length > 0 && reasons.every(reason => DUPLICATE_REASONS.has(reason))
  return { state: status === 'SUCCESS' || isDuplicate ? 'counted' : 'refused', reasons }
}

const DUPLICATE_REASONS = new Set(['DUPLICATE_TRANSACTION_ID', 'DUPLICATE_GCLID'])

function reasonNames(counts: unknown): string[] {
  return (Array.isArray(counts) ? counts.map(fieldsOf) : []).flatMap(({ reason }) =>
    typeof reason === 'string' ? [reason.replace(/^PROCESSING_(ERROR|WARNING)_(REASON_)?/, '')] : [],
  )
}
