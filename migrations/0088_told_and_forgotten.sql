alter table channels add column state_at timestamptz;
comment on column channels.state_at is 'Telegram''s own time of what the state was last told by: what is older changes nothing';

-- Who was forgotten, so that what is recorded of them elsewhere brings nobody back.
create table forgotten_people (
  org_id integer not null,
  person_hash bytea not null,
  forgotten_at timestamptz not null,
  primary key (org_id, person_hash)
);
comment on column forgotten_people.person_hash is 'of the person''s number at Telegram, by a key that the database does not hold';
