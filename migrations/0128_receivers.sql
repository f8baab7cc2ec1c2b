-- Receivers of alerts, the messages that wait for them, and the settings of alerts.
create table receivers (
  org_id integer not null,
  id uuid not null,
  type text not null,
  name text not null,
  email text,
  bot_id uuid,
  chat_id text,
  url text,
  secret bytea,
  former_secret bytea,
  former_secret_until timestamptz,
  about text[],
  quiet_hours json,
  digest json,
  state text not null default 'works',
  last_error text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, id)
);
comment on column receivers.secret is 'of a webhook, encrypted; former_secret also signs until former_secret_until, by the clock of the process that sends';
comment on column receivers.about is 'the kinds it is told about; null: all';

create table receiver_messages (
  org_id integer not null,
  id uuid not null,
  receiver_id uuid not null,
  episode_id uuid,
  number integer not null,
  body json not null,
  state text not null,
  attempts integer not null default 0,
  created_at timestamptz not null,
  due_at timestamptz not null,
  lease_token uuid,
  lease_until timestamptz,
  ended_at timestamptz,
  primary key (org_id, id)
);
comment on table receiver_messages is 'one row per receiver and message; the id is the webhook-id. created_at, due_at and ended_at are by the clocks of processes, the lease by the clock of the database';
comment on column receiver_messages.number is 'the place of the message in its episode; an earlier one is sent first';
comment on column receiver_messages.state is 'waiting, sent, failed (given up), or collected by a digest';
create unique index receiver_messages_once on receiver_messages (org_id, receiver_id, episode_id, number) where episode_id is not null;
create index receiver_messages_waiting on receiver_messages (due_at) where state = 'waiting';
create index receiver_messages_ended on receiver_messages (ended_at) where state <> 'waiting';

create table alert_settings (
  org_id integer not null,
  off_kinds text[] not null,
  min_expected integer not null,
  updated_at timestamptz not null,
  primary key (org_id)
);
