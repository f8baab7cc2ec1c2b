-- Saving with nothing ticked grants nothing; only revoking all permissions empties. The two differ in nothing but their state.
alter table api_key_grants add column emptied_at timestamptz;
comment on column api_key_grants.emptied_at is 'as saved_at where the last thing done was revoking all permissions';

update api_key_grants set emptied_at = saved_at where cardinality(read) + cardinality(write) + cardinality(delete) = 0;
