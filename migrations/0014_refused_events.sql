-- Intake that was refused, kept 30 days so that it can be run again after a fix.

create table refused_events (
  org_id integer not null,
  id uuid not null,
  surface text not null check (surface in ('api', 'dashboard', 'network')),
  key_id uuid,
  network_id uuid,
  status smallint not null,
  error text not null,
  diagnosis text not null,
  click_text text,
  click_id uuid,
  type text,
  body text,
  is_whole boolean not null,
  idempotency_key text,
  received_at timestamptz not null,
  state text not null check (state in ('refused', 'recorded')),
  runs integer not null,
  run_at timestamptz,
  run_by uuid,
  event_id uuid,
  primary key (org_id, id)
);
create index refused_events_click on refused_events (org_id, click_id) where click_id is not null;
create index refused_events_diagnosis on refused_events (org_id, diagnosis, id);
comment on column refused_events.body is 'what was sent, as JSON, at most 8 KiB and without what looks like a secret; is_whole says whether that is all of it';
comment on column refused_events.click_text is 'the click id as it was sent; click_id is the id it can be read as';
