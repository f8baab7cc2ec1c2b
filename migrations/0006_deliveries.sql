-- The outbox, which is the delivery log as well: written in the conversion's transaction, worked off by the worker.

create table deliveries (
  org_id integer not null,
  id uuid not null,
  event_id uuid not null,
  kind text not null check (kind in ('postback', 'ad_account')),
  target_id uuid not null,
  state text not null check (state in ('pending', 'held', 'delivered', 'failed', 'skipped')),
  reason text,
  click_id uuid not null,
  campaign_id uuid,
  run_at timestamptz not null,
  attempts integer not null,
  lease_token uuid,
  lease_until timestamptz,
  created_at timestamptz not null,
  finished_at timestamptz,
  primary key (org_id, id),
  unique (org_id, event_id, kind, target_id)
);
-- Looked for by its target, so that a target with a long queue never hides another one's work.
create index deliveries_due_of_target on deliveries (org_id, kind, target_id, run_at) where state = 'pending';
-- Those that wait for a top-up; normally none.
create index deliveries_held on deliveries (org_id, id) where state = 'held';
-- The log is read in the order of the ids, which is the order of time; what failed is what people look for in it.
create index deliveries_failed on deliveries (org_id, id) where state = 'failed';
comment on column deliveries.run_at is 'when it is due; while it is being sent, the end of its lease, so that a dead worker''s work is due again';

-- Written before each send, finished after it: after a crash the ambiguous ones are visible.
create table delivery_attempts (
  org_id integer not null,
  delivery_id uuid not null,
  number integer not null,
  started_at timestamptz not null,
  finished_at timestamptz,
  method text not null,
  url text not null,
  status integer,
  error text,
  answer text,
  primary key (org_id, delivery_id, number)
);
