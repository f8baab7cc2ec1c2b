-- Whose the hook of a bot is and was, who its updates are passed on to, and what a look at Telegram finds.
alter table bots add column telegram_id bigint;
alter table bots add column name text;
alter table bots add column mode text not null default 'own';
alter table bots add constraint bots_mode_check check (mode in ('own', 'relay', 'copy'));
alter table bots add column hook_state text;
alter table bots add constraint bots_hook_state_check check (hook_state in ('set', 'not_set', 'stolen', 'removed', 'copy'));
alter table bots add column hook_host text;
alter table bots add column hook_checked_at timestamptz;
alter table bots add column hook_check_at timestamptz;
alter table bots add column pending_updates integer;
alter table bots add column last_error jsonb;
alter table bots add column former_hook bytea;
alter table bots add column give_back text;
alter table bots add constraint bots_give_back_check check (give_back in ('owed', 'done'));
alter table bots add column relay_url bytea;
alter table bots add column relay_secret bytea;
alter table bots add column relay_types text[] not null default '{}';
alter table bots add column guard_hook boolean not null default false;
alter table bots add column guarded_at jsonb not null default '[]';
alter table bots add column token_state text not null default 'ok';
alter table bots add constraint bots_token_state_check check (token_state in ('ok', 'revoked'));
alter table bots add column has_copy_secret boolean not null default false;
alter table bots add column notice text;
alter table bots add constraint bots_notice_check check (notice in ('stolen', 'removed', 'revoked'));
alter table bots add column mailed_at timestamptz;
alter table bots add column claimed_until timestamptz;
alter table bots add column last_update_at timestamptz;
alter table bots add column updated_at timestamptz;
comment on column bots.telegram_id is 'the number Telegram knows the bot by; null: Telegram has not confirmed the token yet';
comment on column bots.mode is 'own: the hook is ours; relay: ours, and passed on; copy: the owner''s, whose program sends copies';
comment on column bots.hook_state is 'what was found last; null: hook_set_at and hook_error say it';
comment on column bots.hook_host is 'whose host the hook leads to, where it is not ours';
comment on column bots.hook_check_at is 'when Telegram is asked next; claimed by it as well';
comment on column bots.last_error is 'what Telegram says went wrong last with the hook: at, text';
comment on column bots.former_hook is 'sealed: url, allowed_updates and max_connections of the hook that was there before ours';
comment on column bots.give_back is 'owed: the hook is to be given back as soon as Telegram answers; done: it was, because the organization was deleted';
comment on column bots.relay_url is 'sealed: where the program behind takes updates';
comment on column bots.relay_types is 'the kinds of updates that are passed on; empty: all';
comment on column bots.guarded_at is 'when the hook was taken back by itself, of the last hour';
comment on column bots.notice is 'what the owners are to be told by mail; mailed_at: they were';
create index bots_known on bots (greatest(created_at, deleted_at, updated_at));
create index bots_due on bots (hook_check_at);
create index bots_notices on bots (notice) where notice is not null and mailed_at is null;

-- A bot of Telegram's is in one organization, whichever it is confirmed for first. Looked up before an organization is known.
create table bot_numbers (
  telegram_id bigint primary key,
  org_id integer not null,
  bot_id uuid not null
);
