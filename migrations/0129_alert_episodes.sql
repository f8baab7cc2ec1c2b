-- Episodes of alerts: what was told about an object, from its beginning until it is over.
create table alert_episodes (
  org_id integer not null,
  id uuid not null,
  key text not null,
  kind text not null,
  rule_id uuid,
  object_kind text not null,
  object_id uuid,
  object_name text,
  figure numeric,
  messages integer not null,
  began_at timestamptz not null,
  told_at timestamptz not null,
  over_at timestamptz,
  primary key (org_id, id)
);
comment on column alert_episodes.key is 'names kind and object, and the rule if there is one';
comment on column alert_episodes.figure is 'how bad it was when it was last told; null where that has no size';
comment on column alert_episodes.messages is 'the messages told so far';
create unique index alert_episodes_open on alert_episodes (org_id, key) where over_at is null;
