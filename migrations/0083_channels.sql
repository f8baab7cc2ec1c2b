-- Channels and groups that traffic is led into, and the invite links that were made for it beforehand.
create table channels (
  org_id integer not null,
  id uuid not null,
  bot_id uuid not null,
  chat_id bigint not null,
  title text not null,
  username text,
  kind text not null check (kind in ('channel', 'supergroup', 'group')),
  state text not null check (state in ('ready', 'no_rights', 'not_admin', 'gone')),
  state_reason text,
  member_count integer,
  join_mode text not null default 'open' check (join_mode in ('open', 'request')),
  on_request text not null default 'leave' check (on_request in ('leave', 'approve')),
  approve_after_s integer not null default 0 check (approve_after_s between 0 and 86400),
  request_message jsonb,
  link_days integer not null default 7 check (link_days between 1 and 30),
  pool_min integer not null default 50 check (pool_min between 10 and 5000),
  shared_joins text not null default 'attribute' check (shared_joins in ('attribute', 'organic')),
  leave_event text,
  leave_window_h integer check (leave_window_h between 1 and 8760),
  checked_at timestamptz,
  waiting_until timestamptz,
  making_token uuid,
  making_until timestamptz,
  look_at timestamptz,
  notice text check (notice in ('pool', 'rights')),
  mailed_at timestamptz,
  claimed_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (org_id, id)
);
create unique index channels_chats on channels (org_id, chat_id) where deleted_at is null;
create index channels_known on channels (greatest(updated_at, deleted_at));
create index channels_of_bot on channels (org_id, bot_id);
create index channels_due on channels (look_at) where deleted_at is null and state = 'ready';
comment on column channels.state_reason is 'why it is not ready, in words for its owner';
comment on column channels.waiting_until is 'Telegram has asked to make no links until then';
comment on column channels.making_until is 'until when the process of making_token makes its links';
comment on column channels.look_at is 'when its links are counted next; null: at once';
comment on column channels.notice is 'what its owners are to be told by mail: that links run out, or that the bot has lost a right';
comment on column channels.leave_event is 'custom_1 to custom_8: what a leave within leave_window_h is recorded as; null: nothing';

-- Links that wait for clicks lie in batches, and a process takes a batch of them ahead of its visitors: so nothing is written of a link when it is given, but
-- in its click.
create table link_batches (
  org_id integer not null,
  id uuid not null,
  channel_id uuid not null,
  expires_at timestamptz not null,
  made integer not null,
  left_over integer not null,
  words text not null,
  state text not null check (state in ('free', 'leased', 'spent', 'lost', 'dead')),
  leased_by uuid,
  lease_until timestamptz,
  primary key (org_id, id)
);
-- Links do not compress, and a batch is leased and spent without its words being written anew.
alter table link_batches alter column words set storage external;
create index link_batches_free on link_batches (org_id, channel_id, expires_at) where state = 'free';
create index link_batches_leased on link_batches (org_id, lease_until) where state = 'leased';
comment on column link_batches.expires_at is 'when the first of its links ends';
comment on column link_batches.made is 'how many links were put into it';
comment on column link_batches.left_over is 'how many it had that no click had, when it was leased or given back last';
comment on column link_batches.words is 'those links: the id and the address of each, with spaces between';
comment on column link_batches.state is 'leased: in the stock of the process leased_by; lost: that process ended without giving it back, so none of it is ever given again';

-- How many links of a channel's pool were given to clicks, by the minute; kept for some days.
create table links_given (
  org_id integer not null,
  channel_id uuid not null,
  minute timestamptz not null,
  given integer not null,
  primary key (org_id, channel_id, minute)
);

create table channel_links (
  org_id integer not null,
  id uuid not null,
  channel_id uuid not null,
  purpose text not null check (purpose in ('pool', 'shared')),
  campaign_id uuid,
  url text not null,
  made_at timestamptz not null,
  changed_at timestamptz not null,
  expires_at timestamptz,
  state text not null default 'good' check (state in ('good', 'dead')),
  primary key (org_id, id)
);
create unique index channel_links_urls on channel_links (org_id, url);
create index channel_links_ends on channel_links (org_id, expires_at) where expires_at is not null;
create unique index channel_links_shared on channel_links (org_id, channel_id, campaign_id) where purpose = 'shared' and state <> 'dead';
create index channel_links_known on channel_links (changed_at) where purpose = 'shared';
comment on column channel_links.id is 'its 26 characters are the link''s name at Telegram';
comment on column channel_links.changed_at is 'when it was made or given up; shared ones are followed by it';
comment on column channel_links.expires_at is 'null: never, as shared ones';
comment on column channel_links.state is 'dead: not given any more';

-- Which click a link was given to after the click: behind a landing, in a message. The click itself names the one that it was led to at once
-- (clicks.link_id). A link is given once, and a click has one of a channel.
create table link_grants (
  org_id integer not null,
  link_id uuid not null,
  channel_id uuid not null,
  click_id uuid not null,
  granted_at timestamptz not null,
  primary key (org_id, link_id)
);
create unique index link_grants_of_click on link_grants (org_id, channel_id, click_id);

-- Clicks that were led to the link that all of a campaign share, since there was none of their own.
create table shared_grants (
  org_id integer not null,
  click_id uuid not null,
  channel_id uuid not null,
  link_id uuid not null,
  granted_at timestamptz not null,
  taken_by text,
  primary key (org_id, click_id, channel_id)
);
create index shared_grants_open on shared_grants (org_id, link_id, granted_at) where taken_by is null;
comment on column shared_grants.taken_by is 'the person whose join or request was counted for it';
