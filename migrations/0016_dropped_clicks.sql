-- Which clicks are no longer kept: a row each time months of them are given up, written before the first of them goes.

create table dropped_clicks (
  before_id uuid primary key,
  decided_at timestamptz not null
);
comment on column dropped_clicks.before_id is 'the first id of a month: clicks with a smaller one are no longer kept. The largest counts, also when the setting has changed since';
