-- What traffic runs on. Every table of an organization leads its primary key with org_id (tenancy).

create table campaigns (
  org_id integer not null,
  id uuid not null,
  name text not null,
  key text not null,
  destination jsonb not null,
  offer_id uuid,
  fallback_url text,
  ad_account_id uuid,
  source jsonb not null,
  strict_filter boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (org_id, id)
);

-- Every process asks once a second what it has missed.
create index campaigns_updated on campaigns (updated_at);

-- The key in a campaign's public address, unique over all organizations; kept after the campaign is deleted.
create table campaign_keys (
  key text primary key,
  org_id integer not null,
  campaign_id uuid not null
);

create table offers (
  org_id integer not null,
  id uuid not null,
  name text not null,
  url text not null,
  payout numeric check (payout between 0 and 1000000),
  payout_types text[] not null,
  status text not null check (status in ('active', 'archived')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (org_id, id)
);

create index offers_updated on offers (updated_at);

create table bots (
  org_id integer not null,
  id uuid not null,
  username text not null,
  username_key text not null,
  token bytea not null,
  created_at timestamptz not null,
  deleted_at timestamptz,
  hook_set_at timestamptz,
  hook_error text,
  primary key (org_id, id)
);
-- One live bot of a name: bot_username must name one.
create unique index bots_username on bots (org_id, username_key) where deleted_at is null;
comment on column bots.username_key is 'the username in lower case without @; the name bot_username is matched by';

comment on column bots.hook_set_at is 'when Telegram was told to send the bot''s updates here; hook_error says why it was not';

-- Finds the organization of a Telegram hook before anything else is known.
create table bot_hooks (
  bot_id uuid primary key,
  org_id integer not null,
  secret_hash bytea not null
);

create table ad_spend (
  org_id integer not null,
  campaign_id uuid not null,
  day date not null,
  sub1 text not null,
  amount numeric not null check (amount >= 0),
  source text not null check (source in ('manual', 'api')),
  updated_at timestamptz not null,
  primary key (org_id, day, campaign_id, sub1)
);
comment on column ad_spend.sub1 is 'empty: the spend of the campaign and day that no sub1 is known for';

create table postback_rules (
  org_id integer not null,
  id uuid not null,
  event_type text not null,
  url text not null,
  method text not null check (method in ('GET', 'POST')),
  campaign_id uuid,
  preset text,
  active boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (org_id, id)
);
create index postback_rules_trigger on postback_rules (org_id, event_type) where active and deleted_at is null;
