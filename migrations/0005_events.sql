-- Conversions and what they set in motion. The primary keys are what makes everything happen once.

-- Not partitioned and without foreign keys: an event is looked up before its click, and for ever.
create table events (
  org_id integer not null,
  id uuid not null,
  click_id uuid not null,
  campaign_id uuid,
  offer_id uuid,
  type text not null,
  payout numeric check (payout between 0 and 1000000),
  payout_is_explicit boolean not null,
  nonce text,
  payload json,
  person_id uuid not null,
  bot_id uuid,
  telegram_user_id text,
  source text not null check (source in ('api', 'dashboard', 'service', 'network')),
  test boolean not null default false,
  created_at timestamptz not null,
  primary key (org_id, id)
);
create index events_click on events (org_id, click_id);
create index events_newest on events (org_id, created_at, id);
comment on column events.test is 'whether it stands on a test click; kept here, because the click goes with its month''s partition';
comment on column events.payload is 'as sent, without the ad platform''s block; json, not jsonb, so that a replay answers the same text';

-- The identity of a request (click, type, nonce) whose event has another one: a bot_start that names a bot.
create table event_aliases (
  org_id integer not null,
  id uuid not null,
  event_id uuid not null,
  created_at timestamptz not null,
  primary key (org_id, id)
);

create table persons (
  org_id integer not null,
  id uuid not null,
  telegram_user_id text,
  created_at timestamptz not null,
  primary key (org_id, id)
);

-- Keys map to one person: 't:' telegram user id, 'v:' visitor, 'c:' click.
create table person_keys (
  org_id integer not null,
  key text not null,
  person_id uuid not null,
  primary key (org_id, key)
);

-- One row per organization: the balance is the cache of the ledger's sum, and its row lock orders all that touches money.
create table balances (
  org_id integer primary key,
  balance numeric not null,
  price_per_person numeric not null check (price_per_person >= 0),
  hold_when_empty boolean not null
);

-- Insert-only. The sum of amounts is the balance; a charge is negative.
create table ledger (
  org_id integer not null,
  id uuid not null,
  kind text not null check (kind in ('charge', 'top_up', 'adjustment')),
  amount numeric not null,
  person_id uuid,
  event_id uuid,
  note text,
  created_by uuid,
  created_at timestamptz not null,
  primary key (org_id, id),
  check ((kind = 'charge') = (person_id is not null))
);
-- One charge per person and organization, for ever.
create unique index ledger_charged_once on ledger (org_id, person_id) where kind = 'charge';
