-- What a unit of a currency is worth in US dollars, day by day, as its source has said. A day once written never changes.
create table fx_rates (
  currency text not null,
  source text not null,
  day date not null,
  usd_per_unit numeric not null check (usd_per_unit > 0),
  fetched_at timestamptz not null,
  primary key (currency, source, day)
);
comment on column fx_rates.source is 'ecb, cbr, openexchangerates, or import for those of a file';

-- The sources that are asked, once something in another currency is there: who asks now, when next, and what came of it.
create table fx_sources (
  source text primary key,
  due_at timestamptz,
  claimed_until timestamptz,
  fetched_at timestamptz,
  newest_day date,
  failures integer not null default 0,
  error text
);
comment on column fx_sources.due_at is 'null: at once';

-- An organization's own rates: each holds from its day until the one of a later day. Rows are only added.
create table org_rates (
  org_id integer not null,
  id uuid not null,
  currency text not null,
  from_day date not null,
  usd_per_unit numeric check (usd_per_unit > 0),
  note text,
  actor uuid not null,
  created_at timestamptz not null,
  primary key (org_id, id)
);
comment on column org_rates.usd_per_unit is 'null: from this day the sources'' rates again';
create index org_rates_of_currency on org_rates (org_id, currency, from_day);
create index org_rates_created on org_rates (created_at);
