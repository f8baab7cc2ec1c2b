-- An authority that is asked for certificates, and until when it wants to be left alone. Its row is the lock under which orders are counted.
create table acme_accounts (
  directory text primary key,
  held_until timestamptz,
  held_because text
);

-- The orders of the last days: authorities count them, so Sluice does first.
create table acme_orders (
  id uuid primary key,
  directory text not null,
  name text not null,
  ordered_at timestamptz not null
);
create index acme_orders_lately on acme_orders (directory, ordered_at);
