-- How conversions stand, by type: of those that event_counts counts, so many are pending and so many were rejected, refunded or charged back. Each
-- revision is its own delta, as each event is: the folder marks it with the transaction that counts it.
alter table event_counts add column pending bigint not null default 0;
alter table event_counts add column rejected bigint not null default 0;
comment on column event_counts.events is 'all of them, however they stand; without those of test clicks';

alter table event_revisions add column counted boolean not null default false;
comment on column event_revisions.counted is 'whether it is in event_counts; a report adds those that are not yet';
create index event_revisions_uncounted on event_revisions (org_id, event_id) where not counted;

-- How the conversions of each click in changes stood and stand, in its order. Null from processes of the version before: their days are built anew.
alter table click_sheet add column conversions_were text[];
alter table click_sheet add column conversions text[];
alter table click_sheet alter column conversions_were set storage external;
alter table click_sheet alter column conversions set storage external;
comment on column click_sheet.conversions is 'by type, approved, pending and rejected: ''ftd:0,1,0 lead:2,0,0''; null for a click without conversions';

alter table segments add column events bigint not null default 0;
alter table segments add column events_pending bigint not null default 0;
alter table segments add column events_rejected bigint not null default 0;
-- Days with conversions are built anew. Until they are looked at, nobody says that they are not what is counted.
update explore_turns set checked_at = null;
comment on column segments.events is 'the conversions of its tracked rows, however they stand';
