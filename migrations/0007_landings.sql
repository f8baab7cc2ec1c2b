-- Landing pages, and funnels: which landings and offers share a campaign's visitors, and in what proportion.

create table landings (
  org_id integer not null,
  id uuid not null,
  name text not null,
  url text not null,
  status text not null check (status in ('active', 'archived')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (org_id, id)
);

create index landings_updated on landings (updated_at);

create table funnels (
  org_id integer not null,
  id uuid not null,
  name text not null,
  landings jsonb not null,
  offers jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (org_id, id)
);
comment on column funnels.landings is 'an array of {landing_id, weight}; empty: visitors go straight to an offer';
comment on column funnels.offers is 'an array of {offer_id, weight}';

create index funnels_updated on funnels (updated_at);
