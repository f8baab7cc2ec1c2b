-- Who has joined a channel, and over which click: a person joins a channel once for ever.
create table channel_members (
  org_id integer not null,
  channel_id uuid not null,
  telegram_user_id text not null,
  id uuid not null,
  state text not null check (state in ('in', 'left', 'kicked')),
  state_at timestamptz not null,
  joined_at timestamptz,
  left_at timestamptz,
  times integer not null default 0,
  link_id uuid,
  click_id uuid,
  campaign_id uuid,
  certainty text check (certainty in ('link', 'person', 'campaign', 'organic')),
  event_id uuid,
  leave_event_id uuid,
  primary key (org_id, channel_id, telegram_user_id)
);
create unique index channel_members_ids on channel_members (org_id, id);
create index channel_members_listed on channel_members (org_id, channel_id, id);
create index channel_members_joined on channel_members (org_id, channel_id, joined_at);
create index channel_members_of_person on channel_members (org_id, telegram_user_id);
comment on column channel_members.state_at is 'Telegram''s own time of it: what is older changes nothing';
comment on column channel_members.joined_at is 'the first join, by Telegram''s time; times: how often he has come';
comment on column channel_members.certainty is 'how the click of the first join is known; organic: there is none';

create table join_requests (
  org_id integer not null,
  channel_id uuid not null,
  telegram_user_id text not null,
  id uuid not null,
  state text not null check (state in ('pending', 'approved', 'declined', 'gone')),
  asked_at timestamptz not null,
  due_at timestamptz,
  link_id uuid,
  click_id uuid,
  campaign_id uuid,
  certainty text check (certainty in ('link', 'person', 'campaign', 'organic')),
  event_id uuid,
  decided_at timestamptz,
  decided_by text,
  reason text,
  primary key (org_id, channel_id, telegram_user_id)
);
create unique index join_requests_ids on join_requests (org_id, id);
create index join_requests_pending on join_requests (org_id, channel_id, asked_at) where state = 'pending';
comment on column join_requests.due_at is 'when it is approved by rule; null: it is left to a person';
comment on column join_requests.decided_by is 'rule, telegram (somebody decided there), or who decided here';
comment on column join_requests.reason is 'in Telegram''s words, where it could not be decided';

-- What Sluice has recorded of a person in chats and Mini Apps: to see whether a join of a version before is there under its click.
create index events_in_telegram on events (org_id, telegram_user_id)
  where source = 'service' and type in ('channel_join', 'join_request', 'miniapp_launch');
