-- How much an offer or a campaign takes in a period. `closed_until` is all that traffic goes by: until then the cap is reached.
create table caps (
  org_id integer not null,
  id uuid not null,
  object text not null check (object in ('offer', 'campaign')),
  object_id uuid not null,
  metric text not null check (metric in ('conversions', 'clicks', 'cost')),
  event_types text[] not null,
  "limit" integer not null check ("limit" > 0),
  period text not null check (period in ('day', 'month', 'total')),
  timezone text not null,
  then_offer_id uuid,
  when_unknown text not null check (when_unknown in ('closed', 'open')),
  active boolean not null,
  closed_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (org_id, id)
);
comment on column caps.event_types is 'the types of conversions that count; empty for all';
comment on column caps.closed_until is 'the end of the period whose limit was reached; infinity where the period is total';
comment on column caps.when_unknown is 'of a cap on clicks: what a process does that can get no places from the database';
create index caps_of_object on caps (org_id, object_id) where deleted_at is null;
create index caps_counted on caps (org_id) where metric = 'conversions' and active and deleted_at is null;
create index caps_updated on caps (updated_at);

-- What a cap has counted, by period. `reserved` are places that a process has taken and not yet told what became of them.
create table cap_counts (
  org_id integer not null,
  cap_id uuid not null,
  period_start timestamptz not null,
  used integer not null,
  reserved integer not null,
  reached_at timestamptz,
  reopened_at timestamptz,
  reopened_by uuid,
  claimed_until timestamptz,
  mailed_at timestamptz,
  primary key (org_id, cap_id, period_start)
);
comment on column cap_counts.mailed_at is 'when the people who run the organization were written to that the limit is reached, once in a period';
create index cap_counts_unsent on cap_counts (reached_at) where reached_at is not null and mailed_at is null;
