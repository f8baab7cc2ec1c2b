-- Which updates a program behind has taken, so that it is told each once, and how passing on went. What is in an update is kept nowhere.
create table relay_marks (
  org_id integer not null,
  bot_id uuid not null,
  update_id bigint not null,
  taken_until timestamptz not null,
  passed_at timestamptz,
  primary key (org_id, bot_id, update_id)
);
comment on column relay_marks.taken_until is 'until when the process that passes it on holds it';
create index relay_marks_old on relay_marks (org_id, taken_until);

create table relay_log (
  org_id integer not null,
  bot_id uuid not null,
  id uuid not null,
  type text not null,
  status integer,
  ms integer not null,
  reason text,
  primary key (org_id, bot_id, id)
);
comment on column relay_log.id is 'made when it was passed on; its time is in it';
comment on column relay_log.reason is 'why the program behind has not taken it; null: it has';
