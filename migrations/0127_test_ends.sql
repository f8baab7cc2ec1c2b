-- Split tests that were ended: new visitors get the winner, each other visitor keeps their variant.
create table test_ends (
  org_id integer not null,
  object_id uuid not null,
  tests jsonb not null,
  updated_at timestamptz not null,
  primary key (org_id, object_id)
);
create index test_ends_updated on test_ends (updated_at);
comment on column test_ends.object_id is 'a funnel or a click flow';
comment on column test_ends.tests is 'by test (landings, offers, or the split of a flow): its winner, and at_ms, since when new visitors get it';
