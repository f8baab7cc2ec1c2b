-- Organizations, members, invitations; keys and grants. Small, read-mostly, global: looked up before an organization is known.

-- org_id is a random positive number that never leaves the server; id is the public one.
create table organizations (
  org_id integer primary key check (org_id > 0),
  id uuid not null unique,
  name text not null,
  created_at timestamptz not null,
  deleted_at timestamptz
);

create index organizations_deleted on organizations (org_id) where deleted_at is not null;

create table members (
  id uuid primary key,
  org_id integer not null references organizations (org_id),
  user_id uuid not null references users (id),
  role text not null check (role in ('owner', 'admin', 'member')),
  joined_at timestamptz not null,
  unique (user_id, org_id)
);
create index members_org_id on members (org_id);

create table invitations (
  id uuid primary key,
  org_id integer not null references organizations (org_id),
  email text not null,
  role text not null check (role in ('owner', 'admin', 'member')),
  invited_by uuid not null references users (id),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  accepted_at timestamptz,
  withdrawn_at timestamptz
);
create index invitations_org_id on invitations (org_id);

-- The organization a session acts in.
create table active_organizations (
  session_id uuid primary key references sessions (id) on delete cascade,
  org_id integer not null references organizations (org_id)
);

create table api_keys (
  id uuid primary key,
  user_id uuid not null references users (id),
  name text not null,
  hash bytea not null unique,
  first_characters text not null,
  created_at timestamptz not null,
  enabled boolean not null,
  expires_at timestamptz,
  revoked_at timestamptz
);
create index api_keys_user_id on api_keys (user_id);

-- A key without a row here is fresh: its permissions were never saved. campaigns null means every campaign.
create table api_key_grants (
  key_id uuid primary key references api_keys (id),
  org_id integer references organizations (org_id),
  read text[] not null,
  write text[] not null,
  delete text[] not null,
  campaigns uuid[] check (cardinality(campaigns) > 0),
  saved_at timestamptz not null,
  saved_by uuid not null references users (id)
);
create index api_key_grants_org_id on api_key_grants (org_id);

-- Apart from api_keys, because it is written often.
create table api_key_uses (
  key_id uuid primary key,
  last_used_at timestamptz not null
);
