-- What a click has cost. Clicks of the version before, and of campaigns without a cost model, have none.
alter table clicks add column cost numeric;
alter table clicks add column cost_original numeric;
alter table clicks add column cost_currency text;
alter table clicks add column cost_counts boolean;
comment on column clicks.cost is 'US dollars, up to 9 decimals; null where none was looked for or none could be read';
comment on column clicks.cost_original is 'what the link said that one click costs, in cost_currency';
-- Apart from tracked: a process of the version before lets a click count, but not what it has cost.
comment on column clicks.cost_counts is 'null: its campaign had no cost model; false: waits until the click is tracked; true: its cost, or that none could be read, is in the counters';

-- null: what clicks cost is not known of themselves.
alter table campaigns add column cost jsonb;

-- Never altered: running processes write it. A click with another column gets another type.
create type new_click2 as (
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
  suppressed_delivery boolean,
  cost numeric,
  cost_original numeric,
  cost_currency text,
  cost_counts boolean
);

-- The counters that the version before does not know. It goes on adding up its own, and leaves these as they are.
alter table report_day add column cost numeric not null default 0;
alter table report_day add column unread_costs bigint not null default 0;
alter table report_day add column revenue_pending numeric not null default 0;
alter table report_day add column approved bigint not null default 0;
alter table report_day add column pending bigint not null default 0;
alter table report_day add column rejected bigint not null default 0;
comment on column report_day.cost is 'what the clicks themselves have cost; entered spend is in ad_spend';
comment on column report_day.unread_costs is 'clicks of campaigns with a cost model that brought no readable cost';

-- Never altered, like report_change. A number that is null changes nothing.
create type report_change2 as (
  org_id integer,
  day date,
  slot smallint,
  campaign_id uuid,
  offer_id uuid,
  geo text,
  sub1 text,
  clicks integer,
  landed integer,
  started integer,
  registered integer,
  lead integer,
  deposit integer,
  ftd integer,
  revenue numeric,
  cost numeric,
  unread_costs integer,
  revenue_pending numeric,
  approved integer,
  pending integer,
  rejected integer
);

-- In the place of report_sheet, to which processes of the version before append: their folder would delete sheets whose counters it does not
-- know. Nobody searches for changes, and gathering statistics on the elements of large arrays takes seconds, so it is never analyzed.
create table counter_sheet (
  org_id integer not null,
  id uuid not null,
  changes report_change2[] not null,
  primary key (org_id, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, toast_tuple_target = 8160,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 2000000000);
alter table counter_sheet alter column changes set storage external;
comment on table counter_sheet is 'one row per transaction and organization, folded into report_day and report_slot';

-- What is not folded yet, cell by cell, whoever has written it, and as the version before reads it too.
create or replace view report_delta as
  select s.org_id, s.id, c.day, c.campaign_id, c.offer_id, c.geo, c.sub1,
    c.clicks, c.landed, c.started, c.registered, c.lead, c.deposit, c.ftd, c.revenue,
    null::smallint as slot, 0::numeric as cost, 0 as unread_costs, 0::numeric as revenue_pending, 0 as approved, 0 as pending, 0 as rejected
  from report_sheet s, unnest(s.changes) as c
  union all
  select s.org_id, s.id, c.day, c.campaign_id, c.offer_id, c.geo, c.sub1,
    coalesce(c.clicks, 0), coalesce(c.landed, 0), coalesce(c.started, 0), coalesce(c.registered, 0), coalesce(c.lead, 0),
    coalesce(c.deposit, 0), coalesce(c.ftd, 0), coalesce(c.revenue, 0),
    c.slot, coalesce(c.cost, 0), coalesce(c.unread_costs, 0), coalesce(c.revenue_pending, 0), coalesce(c.approved, 0), coalesce(c.pending, 0),
    coalesce(c.rejected, 0)
  from counter_sheet s, unnest(s.changes) as c;
comment on column report_delta.slot is 'half hour of the UTC day, 0 to 47, that the clicks were made in; null where a process of the version before has counted them';
