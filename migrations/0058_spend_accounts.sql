-- Accounts at ad platforms whose reports are read for what traffic has cost. One that is deleted keeps its row: connected again it is the same
-- account, whose spend is not counted twice.
create table spend_accounts (
  org_id integer not null,
  id uuid not null,
  provider text not null check (provider in ('meta', 'tiktok')),
  external_id text not null,
  name text not null,
  token bytea not null,
  token_hint text not null,
  id_in text,
  level text not null check (level in ('ad', 'adset', 'campaign')),
  campaign_id uuid,
  state text not null check (state in ('active', 'off')),
  timezone text,
  currency text,
  due_at timestamptz not null,
  asked_days integer,
  claim uuid,
  claimed_until timestamptz,
  synced_at timestamptz,
  deep_on date,
  failures integer not null default 0,
  fault_code text,
  fault_words text,
  fault_since timestamptz,
  created_by uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (org_id, id)
);
comment on column spend_accounts.id_in is 'which sub of the clicks holds the platform''s id; null where all spend is of campaign_id';
comment on column spend_accounts.timezone is 'as the platform says, which bills by it; currency likewise';
comment on column spend_accounts.asked_days is 'so many days are read again at the next sync; null: as planned';
comment on column spend_accounts.claim is 'of the process that reads now: what it books counts only while the claim is its own';
comment on column spend_accounts.deep_on is 'the account''s day on which its last week was read again';
create unique index spend_accounts_external on spend_accounts (org_id, provider, external_id);
create index spend_accounts_due on spend_accounts (due_at) where state = 'active' and deleted_at is null;

-- What the platform says was spent, by UTC day and its own id. What of it is a campaign's is booked in booked_spend in the same transaction.
create table account_spend (
  org_id integer not null,
  account_id uuid not null,
  day date not null,
  external_id text not null,
  name text not null,
  amount numeric not null,
  is_estimated boolean not null,
  campaign_id uuid,
  sub1 text not null,
  original_amount numeric,
  currency text,
  usd_per_unit numeric,
  rate_day date,
  rate_source text,
  primary key (org_id, account_id, day, external_id)
);
comment on column account_spend.amount is 'US dollars, up to 6 decimals';
comment on column account_spend.is_estimated is 'an hour of the account lies in two UTC days, and was divided by its minutes';
comment on column account_spend.campaign_id is 'null: no click has carried the id, so the spend is in no report';
create index account_spend_unmatched on account_spend (org_id, account_id, day) where campaign_id is null;

-- On whose clicks a platform's id was last seen: for days on which it brought none.
create table spend_matches (
  org_id integer not null,
  account_id uuid not null,
  external_id text not null,
  campaign_id uuid not null,
  seen_on date not null,
  primary key (org_id, account_id, external_id)
);
