-- Who a bot may write to, and how that stands by the newest that Telegram has told; what people have paid through it.
create table subscribers (
  org_id integer not null,
  bot_id uuid not null,
  telegram_user_id text not null,
  id uuid not null,
  state text not null check (state in ('reachable', 'blocked', 'gone', 'unreachable')),
  state_at timestamptz not null,
  opted_out_at timestamptz,
  opt_changed_at timestamptz,
  source text not null check (source in ('start', 'message', 'payment', 'mini_app', 'import')),
  created_at timestamptz not null,
  started_at timestamptz,
  last_seen_at timestamptz,
  welcomed_at timestamptz,
  language text,
  name text,
  click_id uuid,
  click_at timestamptz,
  campaign_id uuid,
  primary key (org_id, bot_id, telegram_user_id)
);
create unique index subscribers_ids on subscribers (org_id, id);
create index subscribers_of_bot on subscribers (org_id, bot_id, id);
create index subscribers_by_state on subscribers (org_id, bot_id, state, id);
create index subscribers_of_person on subscribers (org_id, telegram_user_id);
comment on column subscribers.id is 'made when the person was first heard of; lists go by it';
comment on column subscribers.state_at is 'Telegram''s own time of what the state was last told by: what is older changes nothing';
comment on column subscribers.opted_out_at is 'asked for no more broadcasts then; a later start clears it';
comment on column subscribers.opt_changed_at is 'Telegram''s own time of the last opt-out or start';
comment on column subscribers.started_at is 'the newest start by Telegram''s time';
comment on column subscribers.click_id is 'the click of the newest start, launch or payment that named one; it has won the person';
comment on column subscribers.click_at is 'Telegram''s own time of that';
comment on column subscribers.name is 'the first name; only where the bot keeps names';

create table payments (
  org_id integer not null,
  bot_id uuid not null,
  charge_id text not null,
  id uuid not null,
  telegram_user_id text,
  click_id uuid,
  event_id uuid,
  currency text not null,
  total_amount bigint not null,
  payout numeric(20, 6),
  kind text not null check (kind in ('one_off', 'first', 'renewal')),
  payload_hash bytea,
  paid_at timestamptz not null,
  expires_at timestamptz,
  refunded_at timestamptz,
  cancelled_at timestamptz,
  found_by text not null check (found_by in ('update', 'look')),
  primary key (org_id, bot_id, charge_id)
);
create unique index payments_ids on payments (org_id, id);
create index payments_of_person on payments (org_id, bot_id, telegram_user_id, payload_hash, paid_at);
create index payments_expiring on payments (org_id, expires_at) where expires_at is not null and cancelled_at is null;
comment on column payments.telegram_user_id is 'null: the person was forgotten';
comment on column payments.total_amount is 'in the smallest unit of the currency, as Telegram says it';
comment on column payments.payload_hash is 'what an invoice is for, hashed: its first payment names the click of the next ones';
comment on column payments.found_by is 'update: Telegram told; look: found afterwards in the list of Stars';

-- What a bot is to do by itself, soon or at a set time; taken by one process at a time.
create table bot_tasks (
  org_id integer not null,
  id uuid not null,
  bot_id uuid not null,
  telegram_user_id text not null,
  kind text not null check (kind in ('welcome', 'request_message', 'approve', 'decline', 'answer_query', 'leave')),
  once_key text not null,
  asked jsonb not null,
  state text not null check (state in ('waiting', 'done', 'gone', 'failed')),
  created_at timestamptz not null,
  due_at timestamptz not null,
  give_up_at timestamptz not null,
  lease_token uuid,
  lease_until timestamptz,
  tries integer not null default 0,
  reason text,
  ended_at timestamptz,
  primary key (org_id, id)
);
create unique index bot_tasks_once on bot_tasks (org_id, bot_id, kind, once_key);
create index bot_tasks_due on bot_tasks (due_at) where state = 'waiting';
create index bot_tasks_of_bot on bot_tasks (org_id, bot_id, due_at) where state = 'waiting';
create index bot_tasks_of_person on bot_tasks (org_id, telegram_user_id);
create index bot_tasks_ended on bot_tasks (org_id, ended_at) where ended_at is not null;
comment on column bot_tasks.once_key is 'what it is done for, once: a start, a request';
comment on column bot_tasks.lease_token is 'of the process that has it in hand; left behind where that process ended in the middle';
comment on column bot_tasks.asked is 'what it needs besides; never what people wrote';
comment on column bot_tasks.reason is 'in Telegram''s words, where it came to nothing';

alter table bots add column welcome jsonb;
alter table bots add column accept_payments boolean not null default false;
alter table bots add column stars_rate numeric(20, 6);
alter table bots add column opt_out_words text[] not null default '{/stop}';
alter table bots add column keep_names boolean not null default false;
alter table bots add column send_per_second integer not null default 20;
alter table bots add constraint bots_send_per_second_check check (send_per_second between 1 and 28);
alter table bots add column send_after timestamptz;
alter table bots add column stars_looked_at timestamptz;
alter table bots add column stars_look_at timestamptz;
alter table bots add column stars_seen integer not null default 0;
alter table bots add column unanswered_payments integer not null default 0;
comment on column bots.welcome is 'the message that answers a start; null: none';
comment on column bots.stars_rate is 'US dollars that one Star is counted for; null: payments in Stars have no payout';
comment on column bots.send_after is 'Telegram has asked for silence until then: of everything this bot sends';
comment on column bots.stars_look_at is 'when the list of Stars is read next; claimed by it as well';
comment on column bots.stars_seen is 'how long the list of Stars was then';
comment on column bots.unanswered_payments is 'pre-checkout queries that nobody here answers';
