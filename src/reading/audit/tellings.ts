/** The audit's checks of deliveries to postback rules and ad accounts, for conversions and their revisions. */

/** The single active account of each platform, which gets the conversions of campaigns that name no account. */
const PLATFORMS = `
      select platform, max(updated_at) as updated_at,
        case when count(*) filter (where state <> 'off' and deleted_at is null) = 1
          then (array_agg(id) filter (where state <> 'off' and deleted_at is null))[1] end as only_id
      from ad_accounts
      where org_id = $1
      group by platform`

/** An event that was put on hold when it was recorded. */
const IS_WITHHELD = `exists (
        select from event_revisions h
        where h.org_id = $1 and h.event_id = e.id and h.seq = 1 and h.status = 'pending' and h.created_at = e.created_at and e.confirmed_at is null)`

/** Whether a rule applies, apart from the time: by type, campaign or source, and once per person where the rule says so. */
const IS_MEANT = `not e.test and r.event_type = e.type and c.suppressed_delivery is not true
      and case
        when r.traffic_source_id is not null then coalesce(p.traffic_source_id = r.traffic_source_id, false)
        when r.told_on is null then r.campaign_id is null or r.campaign_id = e.campaign_id
        else r.told_campaign_id is null or r.told_campaign_id = e.campaign_id
      end
      and (d.id is not null or not r.once_per_person or not exists (
        select 1 from deliveries one
        where one.org_id = $1 and one.kind = 'postback' and one.target_id = r.id and one.person_id = e.person_id))`

/** The checks, in the form of `audit.ts`; `FIRST_KEPT` is SQL of the id from which on clicks are kept. */
export const tellings = ({ FIRST_KEPT }: { readonly FIRST_KEPT: string }): Readonly<Record<string, string>> => ({
  'nothing is delivered twice': `
    select event_id::text as wrong
    from deliveries
    where org_id = $1
    group by event_id, kind, target_id, seq
    having count(*) > 1`,

  'what is told of a revision stands on it': `
    select d.id::text as wrong
    from deliveries d
    where d.org_id = $1 and d.seq > 0 and not exists (
      select from event_revisions v where v.org_id = $1 and v.event_id = d.event_id and v.seq = d.seq)`,

  'every rule that was there fires for every event it means, and no other': `
    select format('event %s, rule %s: %s', e.id, r.id, case when d.id is null then 'missing' else 'not meant' end) as wrong
    from events e
    join postback_rules r on r.org_id = $1 and r.active and r.deleted_at is null and r.updated_at < coalesce(e.confirmed_at, e.created_at)
    left join clicks c on c.org_id = $1 and c.id = e.click_id
    left join campaigns p on p.org_id = $1 and p.id = e.campaign_id
    left join deliveries d
      on d.org_id = $1 and d.event_id = e.id and d.kind = 'postback' and d.target_id = r.id and d.seq = 0
    where e.org_id = $1 and (r.traffic_source_id is null or p.updated_at < coalesce(e.confirmed_at, e.created_at)) and (d.id is not null or c.id is not null or e.click_id >= ${FIRST_KEPT}) and (d.id is not null) <> (
      (r.told_on is null or r.told_on = 'approved' and not ${IS_WITHHELD})
      and ${IS_MEANT})`,

  'every rule that was there fires for every revision it means, and no other': `
    select format('event %s, revision %s, rule %s: %s', e.id, v.seq, r.id, case when d.id is null then 'missing' else 'not meant' end) as wrong
    from event_revisions v
    join events e on e.org_id = $1 and e.id = v.event_id
    join postback_rules r on r.org_id = $1 and r.active and r.deleted_at is null and r.updated_at < v.created_at
    left join clicks c on c.org_id = $1 and c.id = e.click_id
    left join campaigns p on p.org_id = $1 and p.id = e.campaign_id
    left join deliveries d
      on d.org_id = $1 and d.event_id = e.id and d.kind = 'postback' and d.target_id = r.id and d.seq = v.seq
    where v.org_id = $1 and (r.traffic_source_id is null or p.updated_at < v.created_at) and (d.id is not null or c.id is not null or e.click_id >= ${FIRST_KEPT}) and (d.id is not null) <> (
      coalesce(r.told_on = 'any_change' or r.told_on = v.status, false)
      -- A browser's report is told as recorded when it is confirmed, and its revisions after that.
      and coalesce(v.created_at > e.confirmed_at, true)
      and ${IS_MEANT})`,

  'every conversion is told to the ad account it was meant for, and to no other': `
    select format('event %s, ad account %s: %s', e.id, coalesce(d.target_id, a.id),
      case when d.id is null then 'missing' else 'not meant' end) as wrong
    from events e
    join clicks c on c.org_id = $1 and c.id = e.click_id
    left join campaigns p on p.org_id = $1 and p.id = e.campaign_id
    left join (${PLATFORMS}) o on p.ad_account_id is null and o.platform = c.platform
    left join ad_accounts a on a.org_id = $1 and a.id = coalesce(p.ad_account_id, o.only_id)
    left join deliveries d on d.org_id = $1 and d.event_id = e.id and d.kind = 'ad_account' and d.seq = 0
    where e.org_id = $1 and exists (select from ad_accounts where org_id = $1)
      and (p.updated_at is null or p.updated_at < coalesce(e.confirmed_at, e.created_at))
      and (o.updated_at is null or o.updated_at < coalesce(e.confirmed_at, e.created_at))
      and (a.updated_at is null or a.updated_at < coalesce(e.confirmed_at, e.created_at))
      and d.target_id is distinct from case
        when not e.test and not c.suppressed_delivery and a.state <> 'off' and a.deleted_at is null and a.event_map ? e.type
          and (a.send_when is distinct from 'approved' or not ${IS_WITHHELD} or exists (
            select from event_revisions v where v.org_id = $1 and v.event_id = e.id and v.status = 'approved'))
        then a.id
      end`,
})
