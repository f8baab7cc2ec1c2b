-- Channels and groups that a bot was made an administrator of, to be offered to whoever adds one.
create table offered_chats (
  org_id integer not null,
  bot_id uuid not null,
  chat_id bigint not null,
  title text not null,
  username text,
  kind text not null check (kind in ('channel', 'supergroup', 'group')),
  can_invite boolean not null,
  seen_at timestamptz not null,
  primary key (org_id, bot_id, chat_id)
);
comment on column offered_chats.can_invite is 'whether the bot may make invite links there, as Telegram has told last';

create index campaigns_into_channels on campaigns (org_id) where deleted_at is null and destination ->> 'channel' is not null;
