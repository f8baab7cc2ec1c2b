-- What a network's later call says otherwise than the conversion that is recorded: both values are kept, each difference once.
alter table refused_events add column difference jsonb;
alter table refused_events add column difference_id uuid;
comment on column refused_events.difference is 'the recorded event, and of payout and status what was recorded and what was sent, where they differ';
comment on column refused_events.difference_id is 'derived from the event and what was sent, so that the same call again is one row';
create unique index refused_events_difference on refused_events (org_id, difference_id) where difference_id is not null;
