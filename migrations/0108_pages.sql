-- Visits from pages, without a redirect. Which sites may count visits of a campaign, and which types count at once when a browser reports them.
alter table campaigns add column sites text[] not null default '{}';
alter table campaigns add column browser_types text[] not null default '{}';

-- Of a redirect's click it is null, which needs no byte of its row.
alter table clicks add column way text;
comment on column clicks.way is 'page: counted by a page; null: by a redirect';

-- Never altered: running processes write it. A click with another column gets another type.
create type new_click4 as (
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
  way text
);

-- A visit that a page reported, by its page token: the same token of a campaign is the same visit for ever.
create table page_visits (
  org_id integer not null,
  token uuid not null,
  campaign_id uuid not null,
  click_id uuid not null,
  received_at timestamptz not null,
  via text not null check (via in ('script', 'image', 'onward', 'server')),
  page text,
  site text,
  untracked_reason text,
  primary key (org_id, token, campaign_id)
);
create index page_visits_click on page_visits (org_id, click_id);
create index page_visits_newest on page_visits (org_id, campaign_id, received_at);
comment on column page_visits.token is 'a hash of the page token';
comment on column page_visits.click_id is 'the click of the visit: its own, or one that was there before and that it belongs to';
comment on column page_visits.page is 'the address of the page without query and fragment';

-- The first click of a campaign with an ad platform's click id, for a day: a redirect and a page visit with the same id are one click.
create table platform_visits (
  org_id integer not null,
  key uuid not null,
  click_id uuid not null,
  by_page boolean not null,
  made_at timestamptz not null,
  primary key (org_id, key)
);
create index platform_visits_made on platform_visits (org_id, made_at);
comment on column platform_visits.key is 'a hash of the campaign, the name of the id and the id';

-- Clicks that went to the journal and were found to be another click when it was stored: ids that were handed out lead there.
create table click_aliases (
  org_id integer not null,
  id uuid not null,
  click_id uuid not null,
  primary key (org_id, id)
);

-- Servers that report visits of a campaign's pages in their visitors' names.
create table page_servers (
  org_id integer not null,
  id uuid not null,
  campaign_id uuid not null,
  name text not null,
  secret_hash bytea not null,
  created_at timestamptz not null,
  deleted_at timestamptz,
  primary key (org_id, id)
);
create index page_servers_campaign on page_servers (org_id, campaign_id);

-- Refused visits of pages.
alter table refused_events drop constraint refused_events_surface_check;
alter table refused_events add constraint refused_events_surface_check check (surface in ('api', 'dashboard', 'network', 'page'));
alter table refused_events add column campaign_id uuid;
create index refused_events_campaign on refused_events (org_id, campaign_id, id) where campaign_id is not null;

-- Conversions that a browser reported. They count nothing until they are confirmed.
alter table events drop constraint events_source_check;
alter table events add constraint events_source_check check (source in ('api', 'dashboard', 'service', 'network', 'browser'));
alter table events add column claimed json;
alter table events add column confirmed_at timestamptz;
comment on column events.test is 'it is outside the books: it stands on a test click, or a browser reported it and nobody has confirmed it';
comment on column events.claimed is 'the value and currency that a browser named';
comment on column events.confirmed_at is 'for a conversion that a browser reported: since when it counts; infinity: it was never confirmed';

alter table event_revisions drop constraint event_revisions_source_check;
alter table event_revisions add constraint event_revisions_source_check check (source in ('network', 'dashboard', 'import', 'hold', 'browser', 'api'));
