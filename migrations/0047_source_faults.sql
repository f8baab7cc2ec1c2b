-- What traffic sources did not fill in, by campaign and UTC day, with the latest value as it came. Kept 30 days.
create table source_faults (
  org_id integer not null,
  campaign_id uuid not null,
  day date not null,
  field text not null,
  fault text not null check (fault in ('unreplaced', 'too_long')),
  parameter text not null,
  value text not null,
  clicks bigint not null,
  primary key (org_id, campaign_id, day, field, fault)
);
