-- Rules that call once per person, rules the worker has switched off, and runs over past deliveries and conversions.

alter table postback_rules add column once_per_person boolean not null default false;
alter table postback_rules add column switched_off_at timestamptz;
alter table postback_rules add column switched_off_reason text;
comment on column postback_rules.switched_off_at is 'when the worker switched it off because it had only failed; null once it is switched on again';

alter table deliveries add column person_id uuid;
comment on column deliveries.person_id is 'set where the rule calls once per person, which the unique index keeps';
create unique index deliveries_once_per_person on deliveries (org_id, target_id, person_id) where person_id is not null;
-- The log of one rule or ad account, newest first.
create index deliveries_of_target on deliveries (org_id, target_id, id);

-- A run over past deliveries (resend) or past conversions (backfill), which the worker does in portions.
create table delivery_runs (
  org_id integer not null,
  id uuid not null,
  kind text not null check (kind in ('resend', 'backfill')),
  target_id uuid,
  campaign_id uuid,
  only_state text,
  only_failure text,
  date_from timestamptz,
  date_to timestamptz,
  total integer not null,
  done integer not null,
  after_at timestamptz,
  after_id uuid,
  outcome text check (outcome in ('done', 'stopped')),
  created_by uuid not null,
  created_at timestamptz not null,
  finished_at timestamptz,
  primary key (org_id, id),
  check ((outcome is null) = (finished_at is null))
);
-- One at a time, so that runs never flood what happens now.
create unique index delivery_runs_under_way on delivery_runs (org_id) where finished_at is null;
comment on column delivery_runs.after_id is 'the last one that was looked at; for conversions together with after_at';
