/**
 * The statements a batch reads with. Each has two forms: one for a single organization with its number as a constant, which a sharded database
 * sends to that organization's node, and one for many, with the number beside each key.
 *
 * Rows are looked up one by one by their whole primary key, in a lateral subquery with a limit, so that the planner cannot scan the
 * table, however small it thinks it is. The bounds on the clicks' ids let it skip the partitions of other months, which it cannot
 * tell from a list of ids.
 */

import { CONVERSIONS_OF } from '../counters/conversions.ts'
import type { InChat } from './identity.ts'

/** `$1` is the organization in `one`, and in `many` a list of organizations, one beside each key in `$2`. */
export type Forms = { readonly one: string; readonly many: string }

type Org = { org: string; asked: (type: string) => string }

function forms(text: (org: Org) => string): Forms {
  return {
    one: text({ org: '$1::int', asked: type => `unnest($2::${type}[]) as asked (key)` }),
    many: text({ org: 'asked.org_id', asked: type => `unnest($1::int[], $2::${type}[]) as asked (org_id, key)` }),
  }
}

export const EVENT_COLUMNS =
  'e.id, e.created_at, e.click_id, e.campaign_id, e.offer_id, e.type, e.payout, e.payout_is_explicit, e.nonce, e.payload, e.source, e.confirmed_at'

/**
 * The one lock order: nothing of an organization is read or written before this. Of many organizations it takes those whose lock is free. `at` is
 * the time at which the lock was taken, by the database's clock; it is in the outer select so that it is read after the wait.
 */
export const LOCK_BALANCES: Forms = {
  one: locked('where org_id = $1 for update'),
  many: locked('where org_id = any($1) order by org_id for update skip locked'),
}

function locked(organizations: string): string {
  return `
  select org_id, balance, price_per_person, hold_when_empty, clock_timestamp() as at
  from (select org_id, balance, price_per_person, hold_when_empty from balances ${organizations}) locked`
}

export const READ_EVENTS = forms(
  ({ org, asked }) => `
  select e.org_id, ${EVENT_COLUMNS}
  from ${asked('uuid')}
  cross join lateral (select * from events where org_id = ${org} and id = asked.key limit 1) e`,
)

export const READ_ALIASED = forms(
  ({ org, asked }) => `
  select e.org_id, a.id as asked, ${EVENT_COLUMNS}
  from ${asked('uuid')}
  cross join lateral (select id, event_id from event_aliases where org_id = ${org} and id = asked.key limit 1) a
  cross join lateral (select * from events where org_id = ${org} and id = a.event_id limit 1) e`,
)

/** The search key of `READ_IN_CHATS`. */
export const foundBy = ({ type, chat_id, telegram_user_id }: InChat): string => `${type} ${telegram_user_id} ${chat_id}`

/** The first join and the first join request of each chat and person, on any click: those of older versions are only identified by their click. */
export const READ_IN_CHATS = forms(
  ({ org, asked }) => `
  select e.org_id, asked.key as asked, ${EVENT_COLUMNS}
  from ${asked('text')}
  cross join lateral (
    select * from events
    where org_id = ${org} and telegram_user_id = split_part(asked.key, ' ', 2) and source = 'service'
      and type in ('channel_join', 'join_request') and type = split_part(asked.key, ' ', 1)
      and payload->>'chat_id' = split_part(asked.key, ' ', 3)
    order by created_at, id
    limit 1
  ) e`,
)

const LAST_REVISION = (org: string, event: string) => `
  left join lateral (
    select seq, status, amount from event_revisions where org_id = ${org} and event_id = ${event} order by seq desc limit 1
  ) r on true`

/** The events of clicks, each with its last revision, and whether it was ever held. */
export const READ_EVENTS_OF_CLICKS = forms(
  ({ org, asked }) => `
  select e.org_id, ${EVENT_COLUMNS}, e.person_id, r.seq, r.status, r.amount, h.was_held, w.is_withheld
  from ${asked('uuid')}
  cross join lateral (select * from events where org_id = ${org} and click_id = asked.key) e
  ${LAST_REVISION(org, 'e.id')}
  left join lateral (
    select true as was_held from event_revisions where org_id = ${org} and event_id = e.id and status = 'pending' limit 1
  ) h on true
  left join lateral (
    select true as is_withheld from event_revisions
    where org_id = ${org} and event_id = e.id and seq = 1 and status = 'pending' and created_at = e.created_at and e.confirmed_at is null
    limit 1
  ) w on true`,
)

/** The ad accounts to which events of clicks were or will be delivered. */
export const READ_DELIVERED_TO = forms(
  ({ org, asked }) => `
  select d.org_id, d.event_id, d.target_id
  from ${asked('uuid')}
  cross join lateral (select id from events where org_id = ${org} and click_id = asked.key) e
  cross join lateral (
    select org_id, event_id, target_id from deliveries
    where org_id = ${org} and event_id = e.id and kind = 'ad_account' and seq = 0 and state in ('pending', 'held', 'delivered')
  ) d`,
)

/** The last revision of each event that has one. */
export const READ_REVISED = forms(
  ({ org, asked }) => `
  select r.org_id, r.event_id, r.seq, r.status, r.amount
  from ${asked('uuid')}
  cross join lateral (
    select org_id, event_id, seq, status, amount from event_revisions
    where org_id = ${org} and event_id = asked.key
    order by seq desc limit 1
  ) r`,
)

const PERSON = (org: string) => `
  left join lateral (select telegram_user_id from persons where org_id = ${org} and id = k.person_id limit 1) n on true
  left join lateral (
    select true as is_charged from ledger where org_id = ${org} and person_id = k.person_id and kind = 'charge' limit 1
  ) l on true`

/** A click with its offer, its campaign's ad account and traffic source, and the person known for its visitor. */
export const READ_CLICKS = forms(
  ({ org, asked }) => `
  select c.org_id, c.id, c.campaign_id, c.offer_id, c.stages, c.tracked, c.test, c.revenue, c.geo, c.sub1, c.visitor_id,
    c.bot_id, c.platform, c.suppressed_delivery, c.cost, c.cost_counts, c.approved, c.pending, c.rejected, c.revenue_pending,
    ${CONVERSIONS_OF(org, 'c.id')} as conversions,
    o.payout as offer_payout, o.payout_types, o.payout_currency, p.ad_account_id,
    p.traffic_source_id,
    k.key, k.person_id, n.telegram_user_id, l.is_charged
  from ${asked('uuid')}
  cross join lateral (
    select * from clicks where org_id = ${org} and id = asked.key and id between $3 and $4 limit 1
  ) c
  left join lateral (select payout, payout_types, payout_currency from offers where org_id = ${org} and id = c.offer_id limit 1) o on true
  left join lateral (
    select ad_account_id, traffic_source_id from campaigns where org_id = ${org} and id = c.campaign_id limit 1
  ) p on true
  left join lateral (
    select key, person_id
    from person_keys
    where org_id = ${org}
      and key = case when c.test or c.visitor_id is null then 'c:' || c.id else 'v:' || c.visitor_id end
    limit 1
  ) k on true
  ${PERSON(org)}`,
)

export const READ_PEOPLE = forms(
  ({ org, asked }) => `
  select k.org_id, k.key, k.person_id, n.telegram_user_id, l.is_charged
  from ${asked('text')}
  cross join lateral (
    select org_id, key, person_id from person_keys where org_id = ${org} and key = asked.key limit 1
  ) k
  ${PERSON(org)}`,
)

/**
 * The targets of deliveries: postback rules for the event types `$2`, and every ad account that is not switched off, with the types it
 * sends. One statement, so that organizations without an ad account need no second one.
 */
export const READ_TARGETS: Forms = {
  one: targetsOf('org_id = $1'),
  many: targetsOf('org_id = any($1)'),
}

function targetsOf(organizations: string): string {
  return `
  select org_id, id, event_type, case when told_on is null then campaign_id else told_campaign_id end as campaign_id,
    traffic_source_id, once_per_person, told_on, null as platform, null::text[] as sends, null as send_when, null::boolean as restate
  from postback_rules
  where ${organizations} and active and deleted_at is null and event_type = any($2)
  union all
  select org_id, id, null, null, null, null, null, platform, array(select jsonb_object_keys(event_map)), send_when, restate
  from ad_accounts
  where ${organizations} and state <> 'off' and deleted_at is null`
}

/** The active caps on conversions, with their latest counts. */
export const READ_CAPS: Forms = {
  one: capsOf('$1::int', 'c.org_id = $1'),
  many: capsOf('c.org_id', 'c.org_id = any($1)'),
}

function capsOf(org: string, organizations: string): string {
  return `
  select c.org_id, c.id, c.object_id, c.event_types, c."limit", c.period, c.timezone, n.period_start, n.used
  from caps c
  left join lateral (
    select period_start, used from cap_counts where org_id = ${org} and cap_id = c.id order by period_start desc limit 1
  ) n on true
  where ${organizations} and c.metric = 'conversions' and c.active and c.deleted_at is null`
}

export const READ_BOTS: Forms = {
  one: 'select org_id, id, username_key from bots where org_id = $1 and deleted_at is null',
  many: 'select org_id, id, username_key from bots where org_id = any($1) and deleted_at is null',
}
