-- The picture of a person, one each. Its id is new with every picture, so that browsers may keep what they have loaded; `users.image` is
-- the path it is served under.
create table avatars (
  id uuid primary key,
  user_id uuid not null unique references users (id) on delete cascade,
  type text not null check (type in ('image/png', 'image/jpeg', 'image/webp')),
  bytes bytea not null,
  created_at timestamptz not null
);
