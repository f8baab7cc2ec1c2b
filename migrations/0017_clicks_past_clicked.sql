-- The feed by status. Most clicks never leave the first rung and are found on the way through all of them, so only the others are worth
-- an entry: a new click has one index less to write.

drop index clicks_status;
create index clicks_status on clicks (org_id, status, id) where status > 0;
