-- What TLS sessions are sealed by, the same for all processes: a random key for each day, deleted when its day is over.
create table tls_ticket_keys (
  day date primary key,
  key bytea not null
);
comment on column tls_ticket_keys.key is 'sealed by SECRET';
