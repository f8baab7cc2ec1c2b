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

-- Never altered, like report_change. A counter that is null changes nothing; what is in one of the two types is not in the other.
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

-- A table of its own, beside report_sheet: a folder of the version before would delete sheets whose counters it does not know. Nobody
-- searches for changes, and gathering statistics on the elements of large arrays takes seconds, so it is never analyzed.
create table counter_sheet (
  org_id integer not null,
  id uuid not null,
  changes report_change2[] not null,
  primary key (org_id, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, toast_tuple_target = 8160,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 2000000000);
alter table counter_sheet alter column changes set storage external;
comment on table counter_sheet is 'one row per transaction and organization with counters beyond those of report_sheet, folded into report_day';
