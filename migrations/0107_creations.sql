-- What keys created with an Idempotency-Key: a repeat within a day answers the object that exists instead of creating a second one.
create table creations (
  org_id integer not null,
  key_id uuid not null,
  idempotency_key text not null,
  -- SHA-256 of the object's kind and the request, so that another request under the same key is noticed.
  request bytea not null,
  object_id uuid not null,
  created_at timestamptz not null,
  primary key (org_id, key_id, idempotency_key)
);
comment on table creations is 'objects created by keys with an Idempotency-Key, kept for a day';
