/**
 * Events: the conversions of clicks. `recordConversion` is the one endpoint for senders, and the queue behind it is the only writer.
 * Owns `events`, `event_aliases`, `event_money`, `event_revisions` and `held_events`. A resend of a recorded event is answered with it for ever and
 * never recorded again; later status changes are revisions.
 */
import type { Call } from '../../contract/endpoint.ts'
import type { Context } from '../../ground/room.ts'
import type * as api from './api.ts'
import type { Conversions } from './conversions.ts'
import { readConversion } from './intake.ts'
import { payloadWarnings } from './warnings.ts'

/** The event's money, joined as `m`. Amounts are text, because JSON numbers would lose digits. */
export const ORIGINAL = `
  case when m.event_id is not null then json_build_object('original_amount', m.original_amount::text, 'currency', m.currency,
    'usd_per_unit', m.usd_per_unit::text, 'rate_day', m.rate_day, 'rate_source', m.rate_source) end`

/** Whether an event `e` is on a test click. A browser's report that nobody has confirmed is outside the books for another reason. */
export const IS_TEST = `(e.test and e.confirmed_at is distinct from 'infinity')`

/** The deeds of the room, on the queue that the process runs. */
export function eventDeeds(conversions: Pick<Conversions, 'record'>) {
  return {
    /** Returns the event's row, with warnings if there are any; a resend is answered with `Idempotent-Replayed: true`. */
    async recordConversion(context: Context<typeof api.recordConversion>, { body }: Call<typeof api.recordConversion>) {
      const { actor, idempotency_key, arrived_at } = context
      const { org_id } = actor
      const from =
        actor.kind === 'key'
          ? { source: 'api' as const, campaigns: actor.campaigns, key: actor }
          : { source: 'dashboard' as const, campaigns: null, key: undefined }
      const conversion = readConversion(body, { org_id, ...from, idempotency_key, arrived_at })
      const { event, replayed } = await conversions.record(conversion)
      if (replayed) context.header('idempotent-replayed', 'true')
      const warnings = payloadWarnings({ ...body, nonce: body.nonce ?? idempotency_key })
      return warnings.length === 0 ? event : { ...event, warnings }
    },
  }
}
