-- Tags and notes of objects, and notes of days.
create table tags (
  org_id integer not null,
  id uuid not null,
  name text not null,
  color text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, id)
);
create unique index tags_by_name on tags (org_id, lower(name));
comment on table tags is 'labels of campaigns, offers, landings, funnels, click flows, traffic sources and networks';

alter table campaigns add column tag_ids uuid[] not null default '{}', add column note text;
alter table offers add column tag_ids uuid[] not null default '{}', add column note text;
alter table landings add column tag_ids uuid[] not null default '{}', add column note text;
alter table funnels add column tag_ids uuid[] not null default '{}', add column note text;
alter table click_flows add column tag_ids uuid[] not null default '{}', add column note text;
alter table traffic_sources add column tag_ids uuid[] not null default '{}', add column note text;
alter table networks add column tag_ids uuid[] not null default '{}', add column note text;

create table day_notes (
  org_id integer not null,
  id uuid not null,
  day date not null,
  campaign_id uuid,
  text text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, id)
);
create index day_notes_by_day on day_notes (org_id, day);
comment on table day_notes is 'notes of days, of the workspace or of one campaign';
