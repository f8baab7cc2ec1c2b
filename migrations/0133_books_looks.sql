-- The day on which the books of a workspace were last recounted for its receivers.
create table books_looks (
  org_id integer not null primary key,
  day date not null
);
comment on column books_looks.day is 'the UTC day by the clock of the process that recounts';
