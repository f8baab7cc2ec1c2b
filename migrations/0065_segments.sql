-- What Explore answers from: facts of clicks, sealed into segments, and what transactions say of their clicks until it is sealed.

-- Never altered: running processes write them.
create type click_born as (
  id uuid,
  tracked boolean,
  bot_id uuid
);
create type click_change as (
  id uuid,
  was_stages smallint,
  stages smallint,
  was_tracked boolean,
  tracked boolean,
  was_bot_id uuid,
  bot_id uuid,
  was_revenue numeric,
  revenue numeric,
  was_cost_counts boolean,
  cost_counts boolean,
  was_approved integer,
  approved integer,
  was_pending integer,
  pending integer,
  was_rejected integer,
  rejected integer,
  was_revenue_pending numeric,
  revenue_pending numeric
);

-- Filled and emptied all day long, and read by nothing but its key: vacuumed by what was deleted, and never analyzed, like counter_sheet.
create table click_sheet (
  org_id integer not null,
  id uuid not null,
  born uuid[],
  born_otherwise click_born[],
  changes click_change[],
  primary key (org_id, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, toast_tuple_target = 8160,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 2000000000);
alter table click_sheet alter column born set storage external;
alter table click_sheet alter column born_otherwise set storage external;
alter table click_sheet alter column changes set storage external;
comment on table click_sheet is 'one row per transaction and organization, sealed into segments. Processes of the version before write none: what they change is found by the counters';
comment on column click_sheet.born is 'new clicks that are tracked and know no bot, as nearly all are; the others are in born_otherwise';

create table segments (
  org_id integer not null,
  id uuid not null,
  day date not null,
  rows integer not null,
  taken integer not null,
  is_emptied boolean not null,
  clicks bigint not null,
  landed bigint not null,
  started bigint not null,
  registered bigint not null,
  lead bigint not null,
  deposit bigint not null,
  ftd bigint not null,
  revenue numeric not null,
  cost numeric not null,
  unread_costs bigint not null,
  revenue_pending numeric not null,
  approved bigint not null,
  pending bigint not null,
  rejected bigint not null,
  body bytea not null,
  primary key (org_id, id)
) with (autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 2000000000);
create index segments_of_day on segments (org_id, day);
-- It is compressed already; and statistics on bodies would read them all.
alter table segments alter column body set storage external;
comment on table segments is 'facts of clicks of one UTC day; never changed, but replaced';
comment on column segments.day is 'the UTC day of the ids of the clicks';
comment on column segments.taken is 'how many of its rows take a fact away';
comment on column segments.is_emptied is 'the clicks are no longer kept, and what could tell one visitor from another is gone';
comment on column segments.clicks is 'like all that follow, the sum over its tracked rows';
comment on column segments.body is 'a Parquet file';

create table explore_turns (
  org_id integer not null primary key,
  checked_at timestamptz
);
comment on table explore_turns is 'whoever seals, merges or rebuilds the segments of an organization holds the lock of its row';
comment on column explore_turns.checked_at is 'when its segments were last held against the counters';
