-- Files of networks that are compared with the conversions recorded here. Kept for 90 days.

create table reconciliations (
  org_id integer not null,
  id uuid not null,
  network_id uuid not null,
  created_at timestamptz not null,
  titles json not null,
  columns json not null,
  currency text,
  time_zone text not null,
  shift_minutes integer not null,
  from_at timestamptz,
  to_at timestamptz,
  lines integer not null,
  heaps json not null,
  totals json not null,
  primary key (org_id, id)
);
comment on column reconciliations.shift_minutes is 'how far the times of the file are ahead of the times recorded here; at, from_at and to_at are without it';
comment on column reconciliations.heaps is 'the counts when the file was compared, or after the newest act on it';
create index reconciliations_network on reconciliations (org_id, network_id, id);

create table reconciliation_lines (
  org_id integer not null,
  reconciliation_id uuid not null,
  line integer not null,
  click_id uuid,
  click_text text,
  transaction_id text,
  amount text,
  currency text,
  status text not null,
  type text,
  is_named boolean not null,
  sent_status text,
  at timestamptz,
  repeats_line integer,
  error text,
  primary key (org_id, reconciliation_id, line)
);
comment on column reconciliation_lines.status is 'the status of the conversion that the line means, by the map of the network';
comment on column reconciliation_lines.type is 'the event type that the line means; is_named: the status names it, else the offer of the click may';
comment on column reconciliation_lines.repeats_line is 'an earlier line with the same text';
