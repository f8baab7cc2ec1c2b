/** The audit's checks of spend booked for campaigns, in the form of `audit.ts`. */
export const SPEND_CHECKS: Readonly<Record<string, string>> = {
  'what is spread is booked, as a whole or not at all': `
    select format('%s: booked %s, spread %s', origin, booked, spread) as wrong
    from (
      select origin, sum(amount) as booked from booked_spend where org_id = $1 and origin like 'spread:%' group by origin
    ) b
    full join (
      select 'spread:' || id::text as origin, amount as spread from spend_spreads where org_id = $1 and taken_back_at is null
    ) s using (origin)
    where booked is distinct from spread`,

  'what ad accounts say is booked, for what a campaign is known': `
    select format('%s %s %s %s: booked %s, told %s', origin, day, campaign_id, sub1, booked, told) as wrong
    from (
      select origin, day, campaign_id, sub1, amount as booked from booked_spend where org_id = $1 and origin like 'account:%'
    ) b
    full join (
      select 'account:' || account_id::text as origin, day, campaign_id, sub1, sum(amount) as told from account_spend
      where org_id = $1 and campaign_id is not null group by 1, 2, 3, 4
    ) a using (origin, day, campaign_id, sub1)
    where booked is distinct from told`,
}
