/**
 * Events: the conversions of clicks. `recordConversion` is the one endpoint for senders, and the queue behind it is the only writer.
 * Owns `events`, `event_aliases`, `event_money`, `event_revisions` and `held_events`. A resend of a recorded event is answered with it for ever and
 * never recorded again; later status changes are revisions.
 */
import type { Call } from '../../contract/endpoint.ts'
import { toWireId } from '../../contract/ids.ts'
import type { Context } from '../../ground/room.ts'
import type * as api from './api.ts'
import type { Conversions } from './conversions.ts'
import { readConversion } from './intake.ts'
import type { ForeseenDelivery } from './foresee.ts'
import type { Conversion } from './items.ts'
import { payloadWarnings, payoutWarnings } from './warnings.ts'

/** The event's money, joined as `m`. Amounts are text, because JSON numbers would lose digits. */
export const ORIGINAL = `
  case when m.event_id is not null then json_build_object('original_amount', m.original_amount::text, 'currency', m.currency,
    'usd_per_unit', m.usd_per_unit::text, 'rate_day', m.rate_day, 'rate_source', m.rate_source) end`

/** Whether an event `e` is on a test click. A browser's report that nobody has confirmed is outside the books for another reason. */
export const IS_TEST = `(e.test and e.confirmed_at is distinct from 'infinity')`

type RecordContext = Context<typeof api.recordConversion>

/** The conversion in a call by a key or a person. */
function conversionIn({ actor, idempotency_key, arrived_at }: RecordContext, body: api.ConversionDraft): Conversion {
  const { org_id } = actor
  const from =
    actor.kind === 'key'
      ? { source: 'api' as const, campaigns: actor.campaigns, key: actor }
      : { source: 'dashboard' as const, campaigns: null, key: undefined }
  return readConversion(body, { org_id, ...from, idempotency_key, arrived_at })
}

/** What `recordConversion` would do, for a dry run: it refuses the same, and records nothing. */
export function foreseeConversion({ foresee }: Pick<Conversions, 'foresee'>) {
  return async (context: RecordContext, { body }: Call<typeof api.recordConversion>) => {
    const { event, replayed, charge, is_test, deliveries } = await foresee(conversionIn(context, body))
    if (replayed) context.header('idempotent-replayed', 'true')
    const warnings = [
      ...payloadWarnings({ ...body, nonce: body.nonce ?? context.idempotency_key }),
      ...(replayed ? payoutWarnings(body.payout, event.payout) : []),
    ]
    const { click_id, campaign_id, offer_id, type, payout } = event
    const id = (of: string | null) => (of === null ? null : toWireId(of))
    return {
      conversion: {
        click_id: id(click_id),
        campaign_id: id(campaign_id),
        offer_id: id(offer_id),
        type,
        payout,
        is_test,
      },
      charge: { amount: charge ?? '0', person_was_charged_before: charge === null && !is_test },
      deliveries: await withNames(context.db, context.actor.org_id, deliveries),
      ...(warnings.length === 0 ? {} : { warnings }),
    }
  }
}

/** The deliveries with the host that a rule calls, or the account's name. An address may hold a partner's token, so it is not shown. */
async function withNames(db: RecordContext['db'], org_id: number, deliveries: readonly ForeseenDelivery[]) {
  if (deliveries.length === 0) return []
  const ids = deliveries.map(({ target_id }) => target_id)
  const rules = await db
    .selectFrom('postback_rules')
    .select(['id', 'url'])
    .where('org_id', '=', org_id)
    .where('id', 'in', ids)
    .execute()
  const accounts = await db
    .selectFrom('ad_accounts')
    .select(['id', 'name'])
    .where('org_id', '=', org_id)
    .where('id', 'in', ids)
    .execute()
  const names = new Map([
    ...rules.map(({ id, url }) => [id, URL.parse(url)?.host ?? ''] as const),
    ...accounts.map(({ id, name }) => [id, name] as const),
  ])
  return deliveries.map(({ kind, target_id, state, reason }) => ({
    kind,
    id: toWireId(target_id),
    name: names.get(target_id) ?? '',
    state,
    ...(reason === null ? {} : { reason }),
  }))
}

/** The deeds of the room, on the queue that the process runs. */
export function eventDeeds(conversions: Pick<Conversions, 'record'>) {
  return {
    /** Returns the event's row, with warnings if there are any; a resend is answered with `Idempotent-Replayed: true`. */
    async recordConversion(context: Context<typeof api.recordConversion>, { body }: Call<typeof api.recordConversion>) {
      const { event, replayed } = await conversions.record(conversionIn(context, body))
      if (replayed) context.header('idempotent-replayed', 'true')
      const warnings = payloadWarnings({ ...body, nonce: body.nonce ?? context.idempotency_key })
      return warnings.length === 0 ? event : { ...event, warnings }
    },
  }
}
