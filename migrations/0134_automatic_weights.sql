-- Automatic weights of split tests: the switch of each test, and the moves that Sluice made.
create table automatic_tests (
  org_id integer not null,
  object_id uuid not null,
  test text not null,
  automatic boolean not null,
  next_look_at timestamptz,
  refused text,
  primary key (org_id, object_id, test)
);
comment on column automatic_tests.object_id is 'a funnel or a click flow; test: landings, offers, or the split of a flow';
comment on column automatic_tests.next_look_at is 'by the clock of processes; null while it is off';
comment on column automatic_tests.refused is 'the code of the refusal of the last move; null if it was not refused';
create index automatic_tests_due on automatic_tests (next_look_at) where automatic;

create table weight_moves (
  org_id integer not null,
  object_id uuid not null,
  test text not null,
  act_id uuid not null,
  version integer,
  moved_at timestamptz not null,
  primary key (org_id, object_id, test, act_id)
);
comment on column weight_moves.act_id is 'of the rows in the history; version: the version of the click flow that it published';
comment on column weight_moves.moved_at is 'by the clock of the process, like the ids of clicks';
