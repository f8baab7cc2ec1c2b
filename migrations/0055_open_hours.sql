-- When an offer or a campaign takes visitors. Beside them, because an offer that is replaced whole keeps its hours.
create table open_hours (
  org_id integer not null,
  object_id uuid not null,
  timezone text not null,
  week text[],
  updated_at timestamptz not null,
  primary key (org_id, object_id)
);
comment on column open_hours.week is 'seven days from Monday, each 48 half hours of 0 and 1; null for always, where there were hours once';
create index open_hours_updated on open_hours (updated_at);
