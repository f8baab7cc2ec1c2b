-- AI hosts that are connected by OAuth. A person's consent makes an API key whose secret nobody knows; its tokens end with the key.
create table connection_clients (
  id text primary key,
  name text not null,
  redirect_uris text[] not null,
  created_at timestamptz not null,
  used_at timestamptz
);
comment on table connection_clients is 'programs that registered themselves, forgotten when nobody connects them';
comment on column connection_clients.used_at is 'the last consent; null: none yet';

create table connections (
  key_id uuid primary key,
  client_id text not null,
  host_name text not null,
  host_domain text,
  redirect_uri text not null
);
comment on column connections.host_domain is 'the domain that published the document of the client; null: it registered itself, so its name is unverified';

create table connection_codes (
  hash bytea primary key,
  key_id uuid not null,
  challenge text not null,
  created_at timestamptz not null,
  used_at timestamptz
);
create index connection_codes_by_age on connection_codes (created_at);

create table connection_tokens (
  hash bytea primary key,
  key_id uuid not null,
  kind text not null check (kind in ('access', 'refresh')),
  expires_at timestamptz not null,
  used_at timestamptz
);
create index connection_tokens_by_key on connection_tokens (key_id);
create index connection_tokens_by_end on connection_tokens (expires_at);
comment on column connection_tokens.used_at is 'when a refresh token was exchanged; a second use ends the key';
