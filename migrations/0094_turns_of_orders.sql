-- Whose turn it is to have a certificate ordered: each workspace's oldest waiting name before any workspace's second.
alter table acme_orders add column org_id integer, add column is_new boolean not null default false;
comment on column acme_orders.org_id is 'the workspace of the domain; null: the main host';
comment on column acme_orders.is_new is 'the name had no certificate then; such orders are limited by workspace and day';

alter table certificates add column wanted_at timestamptz;
comment on column certificates.wanted_at is 'since when the name is served; null: since before this was written down';
