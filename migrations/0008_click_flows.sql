-- Click flows: a draft that people change, and the versions that were put into traffic, which never change.

create table click_flows (
  org_id integer not null,
  id uuid not null,
  name text not null,
  graph jsonb not null,
  status text not null check (status in ('draft', 'active', 'paused', 'archived')),
  published_version integer,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (org_id, id)
);
comment on column click_flows.graph is 'the draft; traffic goes by click_flow_versions';
comment on column click_flows.published_version is 'the newest version; in traffic while the status is active';

create index click_flows_updated on click_flows (updated_at);

create table click_flow_versions (
  org_id integer not null,
  click_flow_id uuid not null,
  version integer not null,
  graph jsonb not null,
  published_at timestamptz not null,
  primary key (org_id, click_flow_id, version)
);
