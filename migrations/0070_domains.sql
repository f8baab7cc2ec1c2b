-- Names of organizations' own that lead here. Several may hope for the same one: a row is a claim, domain_names says who has proven it.
create table domains (
  org_id integer not null,
  id uuid not null,
  name text not null,
  status text not null check (status in ('pending', 'active', 'failing', 'lost')),
  is_default boolean not null default false,
  https text not null check (https in ('optional', 'only')),
  root jsonb not null,
  unknown_path jsonb not null,
  robots text not null check (robots in ('refuse', 'allow')),
  records jsonb not null,
  found jsonb,
  certificate jsonb,
  checked_at timestamptz,
  next_check_at timestamptz,
  failures integer not null default 0,
  failing_since timestamptz,
  notice text check (notice in ('failing', 'lost')),
  mailed_at timestamptz,
  claimed_until timestamptz,
  proven_at timestamptz,
  last_visit_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (org_id, id)
);
comment on column domains.found is 'what the last check found: arrived, addresses, problems (codes with their words)';
comment on column domains.certificate is 'what the last check was shown by https: issuer, not_after, problem; null: nothing answers there';
comment on column domains.failures is 'checks in a row that nothing arrived by';
comment on column domains.notice is 'what the owners are to be told by mail; mailed_at: they were';
create unique index domains_name on domains (org_id, name) where deleted_at is null;
create unique index domains_default on domains (org_id) where is_default and deleted_at is null;
create index domains_updated on domains (updated_at);
create index domains_due on domains (next_check_at) where deleted_at is null;
create index domains_notices on domains (notice) where notice is not null and mailed_at is null;

-- Who holds a name now: of all organizations one. Looked up before an organization is known.
create table domain_names (
  name text primary key,
  org_id integer not null,
  domain_id uuid not null,
  way text not null check (way in ('pointing', 'address', 'txt')),
  proven_at timestamptz not null,
  txt_seen_at timestamptz,
  txt_missed integer not null default 0
);
comment on column domain_names.way is 'pointing: a request arrived; address: its addresses are those of BASE_URL, and nothing here can reach either; txt: with the record beside it';
comment on column domain_names.txt_missed is 'clear answers in a row without the record that was seen before';

-- Whoever held a name once: nobody else picks it up by DNS that was left behind.
create table domain_holders (
  name text not null,
  org_id integer not null,
  last_held_at timestamptz not null,
  primary key (name, org_id)
);

alter table campaigns add column domain_id uuid;
comment on column campaigns.domain_id is 'the domain its address is shown on; null: the default one of the organization';
