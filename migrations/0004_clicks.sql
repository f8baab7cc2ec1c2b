-- Clicks. The id is a UUIDv7, so it carries its time, its order and its monthly partition.

create table clicks (
  org_id integer not null,
  id uuid not null,
  campaign_id uuid,
  offer_id uuid,
  landing_id uuid,
  status smallint not null,
  stages smallint not null,
  tracked boolean not null,
  test boolean not null,
  revenue numeric,
  geo text,
  device text,
  os text,
  browser text,
  platform text,
  ref_id text,
  sub1 text,
  sub2 text,
  sub3 text,
  sub4 text,
  sub5 text,
  sub6 text,
  sub7 text,
  sub8 text,
  sub9 text,
  fbclid text,
  gclid text,
  gbraid text,
  wbraid text,
  ttclid text,
  visitor_id uuid,
  visitor_is_new boolean,
  ip_hash bytea,
  ip_encrypted bytea,
  user_agent text,
  click_flow_node_path text,
  ad_account_id uuid,
  bot_id uuid,
  suppressed_delivery boolean not null,
  primary key (org_id, id)
) partition by range (id);
comment on column clicks.status is 'the highest rung reached: 0 clicked, 1 landed, 2 started, 3 registered, 4 lead, 5 deposit, 6 ftd';
comment on column clicks.stages is 'one bit per rung reached: bit n is rung n, so 1 for clicked up to 64 for ftd';
comment on column clicks.test is 'a test click of the dashboard: never becomes tracked';
comment on column clicks.platform is 'the ad platform the click came from: meta, google, tiktok';

create index clicks_campaign on clicks (org_id, campaign_id, id);
create index clicks_status on clicks (org_id, status, id);
-- A feed of untracked clicks would otherwise walk over all the tracked ones.
create index clicks_untracked on clicks (org_id, id) where not tracked;

-- The shape a batch of clicks is sent in.
-- Never altered: running processes write it. A click with another column gets another type.
create type new_click as (
  org_id integer,
  id uuid,
  campaign_id uuid,
  offer_id uuid,
  landing_id uuid,
  tracked boolean,
  test boolean,
  geo text,
  device text,
  os text,
  browser text,
  platform text,
  ref_id text,
  sub1 text,
  sub2 text,
  sub3 text,
  sub4 text,
  sub5 text,
  sub6 text,
  sub7 text,
  sub8 text,
  sub9 text,
  fbclid text,
  gclid text,
  gbraid text,
  wbraid text,
  ttclid text,
  visitor_id uuid,
  visitor_is_new boolean,
  ip_hash bytea,
  ip_encrypted bytea,
  user_agent text,
  click_flow_node_path text,
  ad_account_id uuid,
  bot_id uuid,
  suppressed_delivery boolean
);

-- Clicks of times no monthly partition was made for; normally empty.
create table clicks_default partition of clicks default;

-- One row per batch and combination of dimensions, appended in the transaction that changed the clicks; folded into report_day.
-- Filled and emptied all day long: vacuumed by what was deleted, since its size says nothing.
create table report_delta (
  org_id integer not null,
  id uuid not null,
  day date not null,
  campaign_id uuid not null,
  offer_id uuid not null,
  geo text not null,
  sub1 text not null,
  clicks integer not null,
  landed integer not null,
  started integer not null,
  registered integer not null,
  lead integer not null,
  deposit integer not null,
  ftd integer not null,
  revenue numeric not null,
  primary key (org_id, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
comment on column report_delta.campaign_id is 'the zero uuid for clicks without a campaign; offer_id likewise';
comment on column report_delta.geo is 'empty for a missing value; sub1 likewise';

-- The report's counters: what clicks made on a UTC day have come to so far. Updated in place again and again, which
-- stays cheap while their page has room for the next version.
create table report_day (
  org_id integer not null,
  dimension smallint not null,
  day date not null,
  campaign_id uuid not null,
  key text not null,
  clicks bigint not null,
  landed bigint not null,
  started bigint not null,
  registered bigint not null,
  lead bigint not null,
  deposit bigint not null,
  ftd bigint not null,
  revenue numeric not null,
  primary key (org_id, dimension, day, campaign_id, key)
) with (fillfactor = 70);
comment on column report_day.dimension is '1 campaign, 2 geo, 3 sub1, 4 offer, each campaign apart; plus 10 over all campaigns (campaign_id zero); plus 20 over the week that begins on day, a Monday';
comment on column report_day.key is 'the offer''s uuid, country or sub1; empty for the campaign dimension and for a missing value';
create index report_day_campaign on report_day (org_id, dimension, campaign_id, day);
