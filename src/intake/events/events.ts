/**
 * Events: the conversions of clicks. `recordConversion` is the one endpoint for senders, and the queue behind it is the only writer.
 * Owns `events`, `event_aliases`, `event_money`, `event_revisions` and `held_events`. A resend of a recorded event is answered with it for ever and
 * never recorded again; later status changes are revisions.
 */
import type { OriginalMoney } from '../../contract/currencies.ts'
import type { Call } from '../../contract/endpoint.ts'
import { toUuid, toWireId } from '../../contract/ids.ts'
import { pageOf } from '../../contract/paging.ts'
import type { EventStatus } from '../../contract/revisions.ts'
import type { Context } from '../../ground/room.ts'
import { campaignsNamed } from '../../traffic/campaigns/names.ts'
import type * as api from './api.ts'
import type { Conversions } from './conversions.ts'
import { readConversion } from './intake.ts'
import type { ForeseenDelivery } from './foresee.ts'
import type { ClaimedValue, Conversion, ConversionSource } from './items.ts'
import type { StoredEvent } from './organization-state.ts'
import { EVENT_COLUMNS } from './reads.ts'
import { payloadWarnings, payoutWarnings } from './warnings.ts'

/** The event's money, joined as `m`. Amounts are text, because JSON numbers would lose digits. */
export const ORIGINAL = `
  case when m.event_id is not null then json_build_object('original_amount', m.original_amount::text, 'currency', m.currency,
    'usd_per_unit', m.usd_per_unit::text, 'rate_day', m.rate_day, 'rate_source', m.rate_source) end`

/** Whether an event `e` is on a test click. A browser's report that nobody has confirmed is outside the books for another reason. */
export const IS_TEST = `(e.test and e.confirmed_at is distinct from 'infinity')`

/** The last revision of an event `e`, joined as `r`; then the status and amount of the event by it. */
const LAST_REVISION = `
  left join lateral (
    select seq, status, amount from event_revisions where org_id = $1 and event_id = e.id order by seq desc limit 1
  ) r on true`
const STANDING = `coalesce(r.status, 'approved') as status,
  trim_scale(case when r.status is null then coalesce(e.payout, 0) else r.amount end)::text as amount, coalesce(r.seq, 0)::int as revisions`

type LoggedEventRow = StoredEvent & { status: EventStatus; amount: string; revisions: number } & {
  source: ConversionSource
  claimed: ClaimedValue | null
  test: boolean
  original: OriginalMoney | null
}

// The cursor is the id of the last event of a page; its time is looked up, because an event's id holds none. Time bounds are always there, if
// only infinity, so that the planner uses the index for them.
const listOf = (sought = '') => `
  select ${EVENT_COLUMNS}, e.source, ${IS_TEST} as test, e.claimed, ${STANDING}, ${ORIGINAL} as original
  from events e
  left join event_money m on m.org_id = e.org_id and m.event_id = e.id${LAST_REVISION}
  where e.org_id = $1 ${sought}
    and ($9::text is null or coalesce(r.status, 'approved') = $9)
    and ($9::text is null or $9 = 'approved' or e.id in (
      select event_id from event_revisions where org_id = $1 and status = $9))
    and ($2::uuid is null or e.click_id = $2)
    and ($3::text is null or e.type = $3)
    and ($4::uuid is null or e.campaign_id = $4)
    and e.created_at >= coalesce($6::timestamptz, '-infinity') and e.created_at < coalesce($7::timestamptz, 'infinity')
    and ($5::uuid is null or (e.created_at, e.id) < (select created_at, id from events where org_id = $1 and id = $5))
  order by e.created_at desc, e.id desc
  limit $8`
const LIST = listOf()

/**
 * How many conversions are searched for a traffic source's click id. An index on those would cost a random page write with each click; the
 * search costs some tenths of a second at most.
 */
const MOST_LOOKED_THROUGH = 50_000

// The text may be a nonce, a click id in any form, or the click id of a traffic source.
const FIND = listOf(`and e.id in (
      select id from events where org_id = $1 and nonce = $10
      union all select id from events where org_id = $1 and click_id = $11::uuid
      union all
      select lately.id
      from (select org_id, id, click_id from events where org_id = $1
        order by created_at desc, id desc limit ${MOST_LOOKED_THROUGH}) lately
      join clicks c on c.org_id = lately.org_id and c.id = lately.click_id
      where c.org_id = $1 and c.ref_id = $10)`)

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

    async listEvents({ database, actor }: Context<typeof api.listEvents>, { query }: Call<typeof api.listEvents>) {
      const {
        q,
        click_id = null,
        type = null,
        status = null,
        campaign_id = null,
        date_from = null,
        date_to = null,
        cursor = null,
        limit,
      } = query
      const values = [actor.org_id, click_id, type, campaign_id, cursor, date_from, date_to, limit + 1, status]
      const { rows } = q
        ? await database.reads.query<LoggedEventRow>(FIND, [...values, q, toUuid(q) ?? null])
        : await database.reads.query<LoggedEventRow>(LIST, values)
      const page = pageOf(rows, limit)
      return { ...page, campaigns: await campaignsNamed(database.reads, actor.org_id, page.data) }
    },
  }
}
