/**
 * The causes of lines that need attention, as one statement over the tables of all rooms concerned. Owns no table. Reads `ad_accounts`, `failing_targets`,
 * `postback_rules`, `spend_accounts`, `refused_events`, `source_faults`, `bots`, `channels`, `broadcasts`, `domains`, `caps` and `balances`. Each part
 * reads rows of one organization ($1) by an index, and few of them.
 */
import type { AttentionKind } from './api.ts'

/** A row of the statement. `campaigns`: those it affects; null where they are not known. */
export type Cause = {
  readonly kind: AttentionKind
  readonly id: string | null
  readonly name: string | null
  readonly object: 'offer' | 'campaign' | null
  readonly count: number
  readonly since: string | null
  readonly until: string | null
  readonly reason: string | null
  readonly campaigns: string[] | null
}

type Columns = Partial<Record<Exclude<keyof Cause, 'kind'>, string>>

/** The columns of a cause in the order of the union, null for those that are left out; `kind` is an expression. */
const columns = (kind: string, { id, name, object, count, since, until, reason, campaigns }: Columns): string =>
  `${kind} as kind, ${id ?? 'null'}::uuid as id, ${name ?? 'null'}::text as name, ${object ?? 'null'}::text as object, ${count ?? '1'}::int as count,
    ${since ?? 'null'}::timestamptz as since, ${until ?? 'null'}::timestamptz as until, ${reason ?? 'null'}::text as reason, ${campaigns ?? 'null'}::uuid[] as campaigns`

/** The campaigns for which a condition on `c` holds. */
const campaignsWhere = (condition: string): string =>
  `array(select c.id from campaigns c where c.org_id = $1 and c.deleted_at is null and ${condition})`

const AD_ACCOUNTS = `
  select ${columns(`case when a.state = 'broken' then 'ad_account_broken' else 'ad_account_failing' end`, {
    id: 'a.id',
    name: 'a.name',
    count: 'coalesce(f.failures, 1)',
    since: `case when a.state = 'broken' then a.state_changed_at else f.failing_since end`,
    reason: `case when a.state = 'broken' then a.state_reason end`,
    campaigns: campaignsWhere('c.ad_account_id = a.id'),
  })}
  from ad_accounts a
  left join failing_targets f on f.org_id = $1 and f.kind = 'ad_account' and f.target_id = a.id and f.paused_until is not null
  where a.org_id = $1 and a.deleted_at is null and (a.state = 'broken' or (a.state = 'active' and f.failures is not null))`

/** A rule that fires on verdicts has its campaign in another column, see `postback_rules.told_campaign_id`. */
const RULE_CAMPAIGN = 'case when r.told_on is null then r.campaign_id else r.told_campaign_id end'

const POSTBACKS = `
  select ${columns(`case when r.active then 'postback_failing' else 'postback_off' end`, {
    id: 'r.id',
    name: `coalesce(substring(r.url from '(?i)^https?://([^/?#]+)'), r.url)`,
    count: 'coalesce(f.failures, 1)',
    since: 'case when r.active then f.failing_since else r.switched_off_at end',
    reason: 'r.switched_off_reason',
    campaigns: campaignsWhere(
      `(${RULE_CAMPAIGN} is null or c.id = ${RULE_CAMPAIGN}) and (r.traffic_source_id is null or c.traffic_source_id = r.traffic_source_id)`,
    ),
  })}
  from postback_rules r
  left join failing_targets f on f.org_id = $1 and f.kind = 'postback' and f.target_id = r.id and f.paused_until is not null
  where r.org_id = $1 and r.deleted_at is null
    and (case when r.active then f.failures is not null else r.switched_off_at is not null end)`

/**
 * Passing faults ($5), such as a platform that asks for a pause, are listed after three hours, because accounts are read every hour. All others are
 * listed at once.
 */
const SPEND_ACCOUNTS = `
  select ${columns(`'spend_unreadable'`, {
    id: 'a.id',
    name: 'a.name',
    since: 'a.fault_since',
    reason: 'a.fault_words',
    campaigns: `array(
      select distinct s.campaign_id from account_spend s
      where s.org_id = $1 and s.account_id = a.id and s.day > $3::date - 14 and s.campaign_id is not null)`,
  })}
  from spend_accounts a
  where a.org_id = $1 and a.deleted_at is null and a.state = 'active' and a.fault_code is not null
    and (a.fault_code <> all($5::text[]) or a.fault_since < now() - interval '3 hours')`

/** Refused calls from the id $2 on, at most $4 of them. Calls that a network's own map ignores are left out, because that is intended. */
const REFUSED_CALLS = `
  select ${columns(`'calls_refused'`, { id: 'n.id', name: 'n.name', count: 'r.calls', since: 'r.since', reason: 'r.diagnosis' })}
  from (
    select network_id, count(*) as calls, min(received_at) as since, mode() within group (order by diagnosis) as diagnosis
    from (
      select network_id, received_at, diagnosis from refused_events
      where org_id = $1 and id >= $2::uuid and state = 'refused' and diagnosis <> 'status_ignored' order by id desc limit $4
    ) lately
    group by network_id
  ) r
  left join networks n on n.org_id = $1 and n.id = r.network_id`

/** A fault is listed on the UTC days on which clicks have it, so it is gone on the day after it was fixed. */
const UNFILLED_MACROS = `
  select ${columns(`'macros_unfilled'`, {
    id: 'c.id',
    name: 'c.name',
    count: 'f.clicks',
    since: 'f.since',
    reason: 'f.parameters',
    campaigns: 'array[c.id]',
  })}
  from (
    select campaign_id, max(clicks) filter (where day = $3::date) as clicks, min(day) as since,
      string_agg(distinct parameter, ', ' order by parameter) filter (where day = $3::date) as parameters
    from source_faults where org_id = $1 and day > $3::date - 7
    group by campaign_id having max(day) = $3::date
  ) f
  join campaigns c on c.org_id = $1 and c.id = f.campaign_id
  where c.deleted_at is null and c.status = 'active'`

const BOTS = `
  select ${columns(`case when b.token_state = 'revoked' then 'bot_refused' else 'bot_hook_lost' end`, {
    id: 'b.id',
    name: `'@' || b.username`,
    reason: `case when b.token_state <> 'revoked' and b.hook_state = 'stolen' then b.hook_host end`,
    campaigns: campaignsWhere(`c.destination ->> 'bot_id' = b.id::text`),
  })}
  from bots b
  where b.org_id = $1 and b.deleted_at is null and (b.token_state = 'revoked' or b.hook_state in ('stolen', 'removed'))`

const CHANNELS = `
  select ${columns(`case when h.state = 'ready' then 'channel_links_low' else 'channel_lost' end`, {
    id: 'h.id',
    name: 'h.title',
    since: `case when h.state <> 'ready' then h.state_at end`,
    reason: 'h.state_reason',
    campaigns: campaignsWhere(`c.destination -> 'channel' ->> 'channel_id' = h.id::text`),
  })}
  from channels h
  where h.org_id = $1 and h.deleted_at is null and (h.state <> 'ready' or h.notice = 'pool')`

/** A broadcast that a person has paused has no `pause_reason`. */
const BROADCASTS = `
  select ${columns(`'broadcast_stopped'`, {
    id: 'b.id',
    name: 'b.name',
    count: 'b.recipients - b.sent - b.blocked - b.gone - b.failed - b.unknown - b.skipped',
    since: 'b.updated_at',
    reason: 'b.pause_reason',
  })}
  from broadcasts b
  where b.org_id = $1 and b.ended_at is null and b.state = 'paused' and b.pause_reason is not null`

/** Campaigns without a domain, or whose domain is deleted or lost, use the default one. */
const DOMAINS = `
  select ${columns(
    `case when d.status = 'lost' then 'domain_lost' when d.status = 'failing' then 'domain_failing' else 'domain_flagged' end`,
    {
      id: 'd.id',
      name: 'd.name',
      count: 'cardinality(d.campaigns)',
      since: `case when d.status in ('failing', 'lost') then d.failing_since else (d.flagged ->> 'since')::timestamptz end`,
      campaigns: 'd.campaigns',
    },
  )}
  from (
    select id, name, status, failing_since, flagged, ${campaignsWhere(`(c.domain_id = domains.id or (domains.is_default and (
      c.domain_id is null or not exists (
        select from domains other where other.org_id = $1 and other.id = c.domain_id and other.deleted_at is null and other.status <> 'lost'))))`)} as campaigns
    from domains where org_id = $1 and deleted_at is null and (status in ('failing', 'lost') or flagged is not null)
  ) d`

/** `closed_until` alone decides where traffic goes. */
const CAPS = `
  select ${columns(`'cap_reached'`, {
    id: 'p.object_id',
    name: 'coalesce(o.name, c.name)',
    object: 'p.object',
    count: 'p."limit"',
    since: '(select max(k.reached_at) from cap_counts k where k.org_id = $1 and k.cap_id = p.id)',
    until: `case when p.closed_until < 'infinity' then p.closed_until end`,
    reason: 'n.name',
    campaigns: `case when p.object = 'campaign' then array[p.object_id] end`,
  })}
  from caps p
  left join offers o on p.object = 'offer' and o.org_id = $1 and o.id = p.object_id and o.deleted_at is null and o.status = 'active'
  left join campaigns c on p.object = 'campaign' and c.org_id = $1 and c.id = p.object_id and c.deleted_at is null and c.status = 'active'
  left join offers n on n.org_id = $1 and n.id = p.then_offer_id
  where p.org_id = $1 and p.deleted_at is null and p.active and p.closed_until > now() and coalesce(o.id, c.id) is not null`

/** With the conditions of `readBalanceNotice`. */
const BALANCE = `
  select ${columns(`case when b.balance < 0 then 'balance_empty' else 'balance_low' end`, {
    since: '(select min(began_at) from low_balance_notices where org_id = $1 and ended_at is null)',
    reason: 'b.balance',
  })}
  from balances b
  where b.org_id = $1 and ((b.balance < 0 and (b.price_per_person > 0 or b.hold_when_empty))
    or (b.balance < b.low_balance_threshold and b.price_per_person > 0))`

/**
 * All causes. $1 is the organization, $2 the first id of the last 24 hours, $3 the UTC day, $4 the most refused calls to count, $5 the passing faults of
 * spend accounts.
 */
export const CAUSES = [
  AD_ACCOUNTS,
  POSTBACKS,
  SPEND_ACCOUNTS,
  REFUSED_CALLS,
  UNFILLED_MACROS,
  BOTS,
  CHANNELS,
  BROADCASTS,
  DOMAINS,
  CAPS,
  BALANCE,
].join('\n  union all')
