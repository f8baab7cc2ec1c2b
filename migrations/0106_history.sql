-- Who changed what: one row for each changed object of a write, committed together with the write. Dropped by month, see KEEP_HISTORY_DAYS.

create table history (
  org_id integer not null,
  id uuid not null,
  created_at timestamptz not null,
  act_id uuid not null,
  actor_kind text not null check (actor_kind in ('person', 'key', 'sluice')),
  actor_id uuid,
  tool text,
  host json,
  because text,
  kind text not null,
  object_id uuid,
  object_name text not null,
  change text not null check (change in ('created', 'changed', 'deleted')),
  fields json not null,
  undoes_id uuid,
  only_for uuid,
  primary key (org_id, id)
) partition by range (id);
comment on column history.id is 'a UUIDv7 whose time is created_at; the ids of one object ascend in the order of the commits';
comment on column history.act_id is 'the call that wrote the row; a call that changes many objects writes many rows';
comment on column history.because is 'why Sluice itself wrote it: rule, schedule, account_sync';
comment on column history.fields is 'a list of {name, before, after}, or of {name, is_secret: true} for a value that is never stored here';
comment on column history.undoes_id is 'the row that this one puts back';
comment on column history.only_for is 'the person whose own object it is: a private view, an API key; null for an object of the workspace';

create table history_default partition of history default;
create index history_object on history (org_id, kind, object_id, id);
create index history_actor on history (org_id, actor_id, id) where actor_id is not null;
create index history_act on history (org_id, act_id);
create index history_undoes on history (org_id, undoes_id) where undoes_id is not null;

create table history_heads (
  org_id integer not null,
  bucket smallint not null,
  at timestamptz not null,
  primary key (org_id, bucket)
);
comment on table history_heads is 'objects by a hash; the lock of a row puts the changes of its objects in the order of the commits, and at is the time of the newest';

-- The AI host that a key was last used from, as it named itself. Protocols without sessions name it only once.
alter table api_key_uses add column host json;
