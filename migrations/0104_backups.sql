-- The backups of this installation: where each file is, what it holds, or why it failed. They are not part of a backup.
create table backups (
  id uuid primary key,
  started_at timestamptz not null,
  ended_at timestamptz,
  started_by uuid,
  path text not null,
  bytes bigint not null default 0,
  rows bigint not null default 0,
  tables int not null default 0,
  journals int not null default 0,
  failure text,
  lease_token uuid not null,
  leased_until timestamptz not null
);
comment on column backups.started_by is 'The person who pressed Run now; null: a command or a timer';
comment on column backups.failure is 'Why it failed and what to do; null: it succeeded or is running';
comment on column backups.leased_until is 'Later without an end, its process has died';

create unique index backups_running on backups ((ended_at is null)) where ended_at is null;
