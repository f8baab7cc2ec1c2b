-- A second factor of signing in: codes of an app, passkeys, and recovery codes for who has lost both.

-- Whether a password alone lets nobody in: written by the sign-in library, and where a passkey or an app is added or removed.
alter table users add column two_factor_enabled boolean not null default false;
comment on column users.two_factor_enabled is 'the password is not enough: a code of the app, a passkey or a recovery code is asked for as well';

-- One for each who has any second factor, kept by the sign-in library. Secret and codes are encrypted with a key made of SECRET.
create table two_factors (
  id uuid primary key,
  user_id uuid not null unique references users (id) on delete cascade,
  secret text not null,
  backup_codes text not null,
  verified boolean not null default true,
  failed_verification_count integer not null default 0,
  locked_until timestamptz
);
comment on column two_factors.verified is 'false: no code of the app has been shown yet, or the second factor is a passkey';

create table passkeys (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  name text not null,
  credential_id text not null unique,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  is_synced boolean not null,
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index passkeys_user_id on passkeys (user_id);

-- What may be used once and would hold good a little longer: codes of the app, and the challenges that passkeys have answered.
create table spent_codes (
  user_id uuid not null references users (id) on delete cascade,
  code text not null,
  spent_at timestamptz not null,
  primary key (user_id, code)
);

-- True: whoever has no second factor is kept out of this workspace's dashboard until they do.
alter table organizations add column requires_second_factor boolean not null default false;
