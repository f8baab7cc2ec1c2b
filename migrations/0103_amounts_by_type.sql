-- What the approved conversions of a click pay, by type: the fourth number of each type in the text of its conversions. Segments of before, and those that a
-- process of the version before puts meanwhile, hold texts without it: their days are built anew. Until they are looked at, nobody says that they are right.
alter table segments add column without_amounts bigint not null default 1;
update explore_turns set checked_at = null;
comment on column segments.without_amounts is 'how many of its tracked rows earned something and do not say by which type; 1 where nobody has looked';
comment on column click_sheet.conversions is 'by type, approved, pending, rejected, and millionths of a dollar that the approved ones pay: ''ftd:0,1,0,0 lead:2,0,0,12500000''; null for a click without conversions';
