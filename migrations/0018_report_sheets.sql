-- What a transaction changes in the report's counters, as one row instead of one per cell: of a row's cost, its counters are the least.
-- Filled and emptied all day long: vacuumed by what was deleted, since its size says nothing, and never compressed.

-- Never altered: running processes write it. Counters of another kind get another type.
create type report_change as (
  org_id integer,
  day date,
  campaign_id uuid,
  offer_id uuid,
  geo text,
  sub1 text,
  clicks integer,
  landed integer,
  started integer,
  registered integer,
  lead integer,
  deposit integer,
  ftd integer,
  revenue numeric
);

create table report_sheet (
  org_id integer not null,
  id uuid not null,
  changes report_change[] not null,
  primary key (org_id, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, toast_tuple_target = 8160);
alter table report_sheet alter column changes set storage external;
comment on table report_sheet is 'one row per transaction and organization, folded into report_day';

-- Before it is read: what is appended between the reading and the dropping would be lost.
lock table report_delta in access exclusive mode;
insert into report_sheet (org_id, id, changes)
  select org_id, gen_random_uuid(), array_agg(row(org_id, day, campaign_id, offer_id, geo, sub1,
    clicks, landed, started, registered, lead, deposit, ftd, revenue)::report_change)
  from report_delta group by org_id;
drop table report_delta;

-- The same, cell by cell.
create view report_delta as
  select s.org_id, s.id, c.day, c.campaign_id, c.offer_id, c.geo, c.sub1,
    c.clicks, c.landed, c.started, c.registered, c.lead, c.deposit, c.ftd, c.revenue
  from report_sheet s, unnest(s.changes) as c;
comment on column report_delta.campaign_id is 'the zero uuid for clicks without a campaign; offer_id likewise';
comment on column report_delta.geo is 'empty for a missing value; sub1 likewise';

-- Processes of the version before, while they run, append cell by cell.
create rule report_delta_append as on insert to report_delta do instead
  insert into report_sheet (org_id, id, changes)
  values (new.org_id, new.id, array[row(new.org_id, new.day, new.campaign_id, new.offer_id, new.geo, new.sub1,
    new.clicks, new.landed, new.started, new.registered, new.lead, new.deposit, new.ftd, new.revenue)::report_change]);
