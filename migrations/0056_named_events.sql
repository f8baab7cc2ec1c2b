-- Conversions by type, beside the counters of clicks. An event is its own delta: the folder marks it with the transaction that counts it, so
-- processes of the version before, which know nothing of this, leave behind nothing but events that wait to be counted.
alter table events add column counted boolean not null default false;
comment on column events.counted is 'whether it is in event_counts; a report adds those that are not yet';
create index events_uncounted on events (org_id, click_id) where not counted;

create table event_counts (
  org_id integer not null,
  dimension smallint not null,
  day date not null,
  campaign_id uuid not null,
  key text not null,
  type text not null,
  events bigint not null,
  primary key (org_id, dimension, day, campaign_id, key, type)
) with (fillfactor = 70);
comment on column event_counts.dimension is 'as of report_day; day, campaign_id and key likewise: those of the event''s click';
comment on column event_counts.events is 'without those of test clicks';
create index event_counts_campaign on event_counts (org_id, dimension, campaign_id, day);

-- What a workspace calls its events, and which of them are its conversion. Without a row: their own names, and lead.
create table event_settings (
  org_id integer primary key,
  names jsonb not null,
  goal text[] not null,
  updated_by uuid not null,
  updated_at timestamptz not null
);

-- null: as the workspace's.
alter table campaigns add column goal text[];
