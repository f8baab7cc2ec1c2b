-- Messages to many, with a row per recipient that is written before anything is sent.
create table broadcasts (
  org_id integer not null,
  id uuid not null,
  bot_id uuid not null,
  name text not null,
  state text not null check (state in ('draft', 'scheduled', 'preparing', 'sending', 'paused', 'done', 'stopped')),
  pause_reason text,
  message jsonb not null,
  audience jsonb not null,
  starts_at timestamptz,
  send_window jsonb,
  per_second integer check (per_second between 1 and 1000),
  paid boolean not null default false,
  on_unknown text not null default 'skip' check (on_unknown in ('skip', 'resend')),
  prepared_to uuid,
  is_prepared boolean not null default false,
  recipients integer not null default 0,
  sent integer not null default 0,
  blocked integer not null default 0,
  gone integer not null default 0,
  failed integer not null default 0,
  unknown integer not null default 0,
  skipped integer not null default 0,
  afterwards jsonb,
  afterwards_at timestamptz,
  started_by text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  primary key (org_id, id)
);
create index broadcasts_of_bot on broadcasts (org_id, bot_id, id);
create index broadcasts_under_way on broadcasts (state, starts_at) where ended_at is null and state <> 'draft';
create index broadcasts_ended on broadcasts (ended_at) where ended_at is not null;
comment on column broadcasts.send_window is 'from, to and time_zone: the hours in which it is sent';
comment on column broadcasts.prepared_to is 'the last subscriber that has a row; a restart goes on behind it';
comment on column broadcasts.recipients is 'the rows that were made; sent and the like: how many of them have come to that, changed with them, kept when they are deleted';
comment on column broadcasts.afterwards is 'blocks within a day, conversions and revenue within three, of those it was sent to, as of afterwards_at';
comment on column broadcasts.ended_at is 'no row is queued or sending any more';

create table broadcast_sends (
  org_id integer not null,
  broadcast_id uuid not null,
  telegram_user_id text not null,
  subscriber_id uuid not null,
  state text not null check (state in ('queued', 'sending', 'sent', 'blocked', 'gone', 'failed', 'unknown', 'skipped')),
  click_id uuid,
  message_id bigint,
  reason text,
  lease_token bigint,
  at timestamptz not null,
  primary key (org_id, broadcast_id, telegram_user_id)
);
create index broadcast_sends_listed on broadcast_sends (org_id, broadcast_id, state, subscriber_id);
create index broadcast_sends_of_person on broadcast_sends (org_id, subscriber_id);
comment on column broadcast_sends.state is 'sending: on its way by the process of lease_token; unknown: it may have arrived or not, and is not sent again by itself';

-- Which process sends for a bot. A higher token is a later one: what an earlier one says afterwards is not heard.
create table bot_senders (
  org_id integer not null,
  bot_id uuid not null,
  token bigint not null,
  lease_until timestamptz not null,
  primary key (org_id, bot_id)
);
