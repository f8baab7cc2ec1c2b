-- What each half hour of the UTC day counts, from which days and hours of any time zone on the half hour are made.
create table report_slot (
  org_id integer not null,
  dimension smallint not null,
  campaign_id uuid not null,
  day date not null,
  slot smallint not null,
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
  primary key (org_id, dimension, campaign_id, day, slot)
) with (fillfactor = 70);
comment on table report_slot is 'kept 100 days; a day whose sums are not those of report_day is not complete yet';
comment on column report_slot.dimension is '1 each campaign apart; 11 all campaigns (campaign_id zero)';
comment on column report_slot.slot is 'half hour of the UTC day, 0 to 47, that the clicks were made in';

create table slot_checks (
  org_id integer not null primary key,
  checked_at timestamptz not null
);
comment on table slot_checks is 'when the half hours of an organization were last held against its days; locked while a day is completed';
