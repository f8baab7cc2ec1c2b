-- Affiliate networks that report conversions by calling an address of their own.

create table networks (
  org_id integer not null,
  id uuid not null,
  name text not null,
  template text not null,
  parameters jsonb not null,
  statuses jsonb not null,
  default_type text,
  unpaid_types text[] not null,
  ips text[] not null,
  token bytea not null,
  active boolean not null,
  last_received_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (org_id, id)
);
comment on column networks.parameters is 'for each field the parameter names it is read from, the first one that is sent counts';
comment on column networks.statuses is 'from the network''s word to the event type it stands for, null for recorded as nothing';
comment on column networks.default_type is 'what a call without a status stands for; null: nothing';
comment on column networks.unpaid_types is 'types this network reports before they are paid: recorded with a payout of 0';
comment on column networks.token is 'encrypted, so that the address can be shown again';

-- Finds the organization of a postback address before anything else is known. After a rotation the old token works until expires_at.
create table network_tokens (
  hash bytea primary key,
  org_id integer not null,
  network_id uuid not null,
  expires_at timestamptz,
  created_at timestamptz not null
);
create index network_tokens_network on network_tokens (org_id, network_id);

-- Calls that were acknowledged but could not be run at once (over quota, or the books were held up); normally empty.
create table network_calls (
  org_id integer not null,
  id uuid not null,
  network_id uuid not null,
  fields json not null,
  ip text not null,
  received_at timestamptz not null,
  run_at timestamptz not null,
  attempts integer not null,
  primary key (org_id, id)
);
comment on column network_calls.run_at is 'when it is due; while it is being run, the end of its lease';
