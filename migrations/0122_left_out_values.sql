-- Values of a campaign whose visitors go elsewhere. A campaign that ever had one has a row in left_out_lists, which every write of its list locks and touches.
create table left_out_lists (
  org_id integer not null,
  campaign_id uuid not null,
  updated_at timestamptz not null,
  primary key (org_id, campaign_id)
);
create index left_out_lists_updated on left_out_lists (updated_at);

create table left_out_values (
  org_id integer not null,
  id uuid not null,
  campaign_id uuid not null,
  field text not null,
  value text not null,
  offer_id uuid,
  note text,
  until timestamptz,
  rule_id uuid,
  created_at timestamptz not null,
  primary key (org_id, id)
);
create unique index left_out_values_once on left_out_values (org_id, campaign_id, field, value);
comment on column left_out_values.offer_id is 'the offer its visitors go to; null: the fallback of the campaign';

alter table clicks add column left_out text;
comment on column clicks.left_out is 'the field and the value by which the visitor was left out, such as sub1=zone; null for all others';

-- Never altered: running processes write it. A click with another column gets another type.
create type new_click5 as (
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
  cost_counts boolean,
  link_id uuid,
  way text,
  left_out text
);
