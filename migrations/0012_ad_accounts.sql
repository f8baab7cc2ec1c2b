-- Ad accounts: where conversions are reported to, so that a platform learns which of its clicks were worth the money.

create table ad_accounts (
  org_id integer not null,
  id uuid not null,
  platform text not null check (platform in ('meta', 'tiktok', 'google')),
  name text not null,
  settings jsonb not null,
  credential bytea not null,
  credential_hint text not null,
  event_map jsonb not null,
  state text not null check (state in ('active', 'broken', 'off')),
  state_reason text,
  state_changed_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (org_id, id)
);
comment on column ad_accounts.settings is 'what names the account at its platform and how conversions are told to it; nothing secret';
comment on column ad_accounts.credential is 'the access token or service account key, encrypted; empty once the account is deleted';
comment on column ad_accounts.event_map is 'by our event type: the platform''s event, and for Meta its custom data; a type that is missing is not sent';
comment on column ad_accounts.state is 'broken: the platform refused the credential, so what waits goes on waiting; off: someone switched it off';

-- Every process asks once a second what it has missed.
create index ad_accounts_updated on ad_accounts (updated_at);

-- The addresses that are still kept for an ad account, to be erased after seven days; normally few.
create index clicks_with_ip on clicks (org_id, id) where ip_encrypted is not null;
