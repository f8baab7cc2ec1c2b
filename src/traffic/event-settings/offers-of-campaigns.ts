/** The offers that campaigns lead to now: directly, through their funnel, or through the published version of their click flow. Owns no table. */

/** Rows of `campaign_id`, `offer_id` and `way` (direct, funnel, click_flow) for the organization in `$1`, each once; deleted campaigns and offers too. */
export const OFFERS_OF_CAMPAIGNS = `
  select id as campaign_id, offer_id, 'direct' as way from campaigns where org_id = $1 and offer_id is not null
  union
  select c.id, o.offer_id, 'funnel' from campaigns c
    join funnels f on f.org_id = $1 and f.id = (c.destination ->> 'funnel_id')::uuid
    cross join lateral jsonb_to_recordset(f.offers) as o(offer_id uuid)
  where c.org_id = $1
  union
  select c.id, case n.type when 'offer' then n.offer_id else n.earns_for_offer_id end, 'click_flow' from campaigns c
    join click_flows f on f.org_id = $1 and f.id = (c.destination ->> 'click_flow_id')::uuid
    join click_flow_versions v on v.org_id = $1 and v.click_flow_id = f.id and v.version = f.published_version
    cross join lateral jsonb_to_recordset(v.graph -> 'nodes') as n(type text, offer_id uuid, earns_for_offer_id uuid)
  where c.org_id = $1
    and (n.type = 'offer' and n.offer_id is not null or n.type = 'redirect' and n.earns_for_offer_id is not null)`
