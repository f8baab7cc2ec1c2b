-- What is said of a conversion later is told as well: by rules that call for it, and to ad accounts that wait for the approval.

-- A conversion is told to a target once as it was recorded (seq 0), and once for each revision (its seq). Processes of the version before
-- know no seq: all they write are rows of seq 0, by the default. Among these the five columns are unique exactly where the four were, and none
-- of their statements names the columns of its `on conflict`, so each finds the new index as it found the old one. Both hold org_id first, which
-- is all a sharded database asks of a unique index. The new one is there before the old one goes, in one transaction. A column in the index, not a
-- table of its own: claims, breakers, resends and the log are those of any other delivery. A worker of the version before that claims a
-- row of another seq calls once as well, with the amount as recorded; none is written before someone has made use of what follows.
alter table deliveries add column seq smallint not null default 0;
create unique index deliveries_once on deliveries (org_id, event_id, kind, target_id, seq);
alter table deliveries drop constraint deliveries_org_id_event_id_kind_target_id_key;
-- Made anew behind it: of indexes that cost the same to a planner without statistics the newest is taken, and a delivery that is looked for by
-- its id would be by way of all of the organization's.
drop index deliveries_of_target;
create index deliveries_of_target on deliveries (org_id, target_id, id);
comment on column deliveries.seq is 'the revision of the event that it tells of; 0: the event as it was recorded, or held at first and approved';

alter table postback_rules add column told_on text;
alter table postback_rules add column told_campaign_id uuid;
comment on column postback_rules.told_on is 'null: when a conversion is recorded; else approved, rejected, refunded, chargeback, any_change';
comment on column postback_rules.told_campaign_id is 'of a rule with told_on its campaign; campaign_id is then the nil id, which no campaign has: a process of the version before would call it for what is recorded';

alter table ad_accounts add column send_when text;
alter table ad_accounts add column restate boolean;
comment on column ad_accounts.send_when is 'approved: what is held when it is recorded is told once it is approved; null: all is told when it is recorded';
comment on column ad_accounts.restate is 'true: Google is told a smaller amount under the same transaction id';
