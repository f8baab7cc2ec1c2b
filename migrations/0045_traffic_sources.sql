-- What traffic sources call what they fill in. A campaign that names a source is read, and its address for the ads filled, by it.
create table traffic_sources (
  org_id integer not null,
  id uuid not null,
  name text not null,
  template text,
  parameters jsonb not null,
  cost_unit text check (cost_unit in ('cpc', 'cpm')),
  cost_currency text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (org_id, id)
);
comment on column traffic_sources.parameters is 'list of field, parameter, macro and label; a null macro is a parameter the source appends by itself';
comment on column traffic_sources.cost_unit is 'what an amount in the address is: of one click, or of a thousand; null where none comes';
create unique index traffic_sources_name on traffic_sources (org_id, name) where deleted_at is null;
create index traffic_sources_updated on traffic_sources (updated_at);

alter table campaigns add column traffic_source_id uuid;
create index campaigns_of_source on campaigns (org_id, traffic_source_id) where traffic_source_id is not null;
