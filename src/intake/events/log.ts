/** The conversion log: conversions with their status, newest first, as pages and as a file. Reads the tables of events.ts. */
import type { OriginalMoney } from '../../contract/currencies.ts'
import type { Call } from '../../contract/endpoint.ts'
import { toUuid, toWireId } from '../../contract/ids.ts'
import { MOST_FILE_LINES } from '../../contract/list-files.ts'
import { pageOf } from '../../contract/paging.ts'
import type { EventStatus } from '../../contract/revisions.ts'
import { fileOf, plainLines } from '../../ground/db/list-file.ts'
import type { Wanted } from '../../ground/db/lists.ts'
import type { Statement, Value } from '../../ground/db/statement.ts'
import type { Context } from '../../ground/room.ts'
import { campaignsNamed } from '../../traffic/campaigns/names.ts'
import * as api from './api.ts'
import { IS_TEST, ORIGINAL } from './events.ts'
import type { ClaimedValue, ConversionSource } from './items.ts'
import type { StoredEvent } from './organization-state.ts'
import { EVENT_COLUMNS } from './reads.ts'

type LoggedEventRow = StoredEvent & { status: EventStatus; amount: string; revisions: number } & {
  source: ConversionSource
  claimed: ClaimedValue | null
  test: boolean
  original: OriginalMoney | null
}

type Filters = Wanted<Call<typeof api.listEvents>['query']>

/** Conversions, newest first. */
export async function listEvents(
  { database, actor }: Context<typeof api.listEvents>,
  { query }: Call<typeof api.listEvents>,
) {
  const { limit, cursor } = query
  const { text, values = [] } = pageStatement(actor.org_id, query, cursor, limit + 1)
  const { rows } = await database.reads.query<LoggedEventRow>(text, [...values])
  const page = pageOf(rows, limit)
  return { ...page, campaigns: await campaignsNamed(database.reads, actor.org_id, page.data) }
}

/** The listed conversions as a CSV file. Refuses `too_many_lines`. */
export async function exportEvents(
  { database, actor }: Context<typeof api.exportEvents>,
  { query }: Call<typeof api.exportEvents>,
) {
  const ask = async <Row extends object>({ text, values = [] }: Statement) =>
    (await database.reads.query<Row>(text, [...values])).rows
  return await fileOf<LoggedEventRow>(
    {
      isTooLong: async () => (await ask(beyondStatement(actor.org_id, query))).length > 0,
      read: (last, limit) => ask(pageStatement(actor.org_id, query, last?.id, limit)),
    },
    plainLines(api.LoggedEvent, async rows => rows),
  )
}

/** The last revision of an event `e`, joined as `r`; then the status and amount of the event by it. */
const LAST_REVISION = `
  left join lateral (
    select seq, status, amount from event_revisions where org_id = $1 and event_id = e.id order by seq desc limit 1
  ) r on true`
const AMOUNT = `trim_scale(case when r.status is null then coalesce(e.payout, 0) else r.amount end)`
const STANDING = `coalesce(r.status, 'approved') as status, ${AMOUNT}::text as amount, coalesce(r.seq, 0)::int as revisions`

/** A page: at most `limit` events after the event `last`. Its time is looked up, because an event's id holds none. */
function pageStatement(org_id: number, filters: Filters, last: string | undefined, limit: number): Statement {
  const { conditions, values, put } = conditionsOf(org_id, filters)
  if (last !== undefined)
    conditions.push(
      `(e.created_at, e.id) < (select created_at, id from events where org_id = $1 and id = ${put(last)})`,
    )
  const text = `
    select ${EVENT_COLUMNS}, ${IS_TEST} as test, e.claimed, ${STANDING}, ${ORIGINAL} as original
    from events e
    left join event_money m on m.org_id = e.org_id and m.event_id = e.id${LAST_REVISION}
    where e.org_id = $1 and ${conditions.join('\n and ')}
    order by e.created_at desc, e.id desc
    limit ${put(limit)}`
  return { text, values }
}

/** A row if there are more events than a file may have lines. */
function beyondStatement(org_id: number, filters: Filters): Statement {
  const { conditions, values, needsStanding } = conditionsOf(org_id, filters)
  const text = `
    select e.id from events e${needsStanding ? LAST_REVISION : ''} where e.org_id = $1 and ${conditions.join('\n and ')} limit 1 offset ${MOST_FILE_LINES}`
  return { text, values }
}

function conditionsOf(org_id: number, filters: Filters) {
  const { q, click_id, type, status, campaign_id, offer_id, landing_id, network_id, traffic_source_id, tag_id } =
    filters
  const { payout_from, payout_to, date_from = '-infinity', date_to = 'infinity' } = filters
  const values: Value[] = [org_id]
  const put = (value: Value) => `$${values.push(value)}`
  // Time bounds are always there, if only infinity, so that the planner uses the index for them.
  const conditions = [`e.created_at >= ${put(date_from)}::timestamptz and e.created_at < ${put(date_to)}::timestamptz`]
  if (q) conditions.push(soughtBy(put(q), put(toUuid(q) ?? null)))
  if (click_id !== undefined) conditions.push(`e.click_id = ${put(click_id)}`)
  if (type !== undefined) conditions.push(`e.type = ${put(type)}`)
  if (status !== undefined) conditions.push(hasStatus(put(status)))
  if (campaign_id !== undefined) conditions.push(`e.campaign_id = ${put(campaign_id)}`)
  if (offer_id !== undefined) conditions.push(`e.offer_id = ${put(offer_id)}`)
  if (network_id !== undefined) conditions.push(reportedBy(put(toWireId(network_id))))
  if (traffic_source_id !== undefined)
    conditions.push(
      `e.campaign_id in (select id from campaigns where org_id = $1 and traffic_source_id = ${put(traffic_source_id)})`,
    )
  if (landing_id !== undefined)
    conditions.push(
      `exists (select from clicks c where c.org_id = $1 and c.id = e.click_id and c.landing_id = ${put(landing_id)})`,
    )
  if (tag_id !== undefined) conditions.push(isTagged(put(tag_id)))
  if (payout_from !== undefined || payout_to !== undefined)
    conditions.push(hasAmount(put(payout_from ?? '0'), put(payout_to ?? 'infinity')))
  const needsStanding = [status, payout_from, payout_to].some(sent => sent !== undefined)
  return { conditions, values, put, needsStanding }
}

/** Whether the campaign, the offer or the landing of the event `e` has the tag. */
const isTagged = (tag: string) => {
  const tagged = (table: string) => `(select id from ${table} where org_id = $1 and tag_ids @> array[${tag}]::uuid[])`
  return `(e.campaign_id in ${tagged('campaigns')} or e.offer_id in ${tagged('offers')} or exists (
      select from clicks c where c.org_id = $1 and c.id = e.click_id and c.landing_id in ${tagged('landings')}))`
}

/** Whether a network reported the event `e`. `network` is a parameter with its id on the wire, which stands in the payload. */
export const reportedBy = (network: string) => `e.source = 'network' and e.payload->>'network_id' = ${network}::text`

/** The text may be a transaction id, the id of a conversion or click in any form, a Telegram user id, or the click id of a traffic source. */
const soughtBy = (text: string, uuid: string) => `e.id in (
      select id from events where org_id = $1 and nonce = ${text}
      union all select ${uuid}::uuid
      union all select id from events where org_id = $1 and click_id = ${uuid}::uuid
      union all select id from events where org_id = $1 and telegram_user_id = ${text}
      union all select id from events where org_id = $1
        and click_id = any(array(select c.id from clicks c where c.org_id = $1 and c.ref_id = ${text}::text)))`

/** Most events have no revision, so their payout tells before their last revision is looked up. */
const hasAmount = (from: string, to: string) => {
  const isIn = (amount: string) => `${amount} between ${from}::numeric and ${to}::numeric`
  return `(${isIn('coalesce(e.payout, 0)')} or e.id in (
      select event_id from event_revisions where org_id = $1 and ${isIn('amount')})) and ${isIn(AMOUNT)}`
}

/** Events with revisions are looked up by their status, unless approved ones are sought, most of which have none. */
const hasStatus = (status: string) => `coalesce(r.status, 'approved') = ${status}::text
    and (${status} = 'approved' or e.id in (select event_id from event_revisions where org_id = $1 and status = ${status}))`
