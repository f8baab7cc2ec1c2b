-- What a click's conversions stand at: so many approved, pending and rejected, and how much is on hold. In the report's counters too.
alter table clicks add column approved integer;
alter table clicks add column pending integer;
alter table clicks add column rejected integer;
alter table clicks add column revenue_pending numeric;
-- Null with revenue: conversions of the version before, which are counted once something is said of one of them.
comment on column clicks.approved is 'conversions that pay, or were approved by a verdict; null: none of its conversions was counted in these four';
comment on column clicks.rejected is 'conversions that were rejected, refunded or charged back';
