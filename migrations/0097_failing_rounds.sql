-- What goes round in some process and fails again and again. A process that ends leaves its rows, which count for a minute.
create table failing_rounds (
  process_id uuid not null,
  round text not null,
  failing_since timestamptz not null,
  told_at timestamptz not null,
  primary key (process_id, round)
);
