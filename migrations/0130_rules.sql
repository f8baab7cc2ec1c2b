-- Rules: what Sluice does by itself upon results, what each check did, and when an object was acted on last.
create table rules (
  org_id integer not null,
  id uuid not null,
  name text not null,
  active boolean not null,
  version integer not null,
  definition json not null,
  state text not null default 'watching',
  waits_for text,
  asked_check_id uuid,
  asked_at timestamptz,
  zone text not null,
  next_check_at timestamptz,
  due_checked_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, id)
);
comment on column rules.definition is 'the fields that a person writes, but name and active; ids are uuids';
comment on column rules.state is 'watching, waiting, asking or failing, as the last check left it; waits_for: why it waits or fails';
comment on column rules.asked_check_id is 'the check that waits to be confirmed, since asked_at';
comment on column rules.zone is 'the time zone that next_check_at was computed in';
comment on column rules.next_check_at is 'by the clock of processes, like due_checked_at, the due time that was checked last, and all other times here; null while the rule is off';
create index rules_due on rules (next_check_at) where active;

create table rule_checks (
  org_id integer not null,
  id uuid not null,
  rule_id uuid not null,
  rule_version integer not null,
  checked_at timestamptz not null,
  window_from timestamptz not null,
  window_to timestamptz not null,
  state text not null,
  reason text,
  objects json not null,
  confirmed_at timestamptz,
  primary key (org_id, id)
);
comment on table rule_checks is 'one row per check that acted, waited or asked; checks that found nothing have none';
create index rule_checks_of_rule on rule_checks (org_id, rule_id, id);

create table rule_objects (
  org_id integer not null,
  campaign_id uuid not null,
  field text not null,
  value text not null,
  rule_id uuid not null,
  check_id uuid not null,
  act text not null,
  acted_at timestamptz not null,
  primary key (org_id, campaign_id, field, value)
);
comment on table rule_objects is 'the last act of any rule on an object, so that it is acted on once in 24 hours; field and value are empty for the campaign itself';
create index rule_objects_of_rule on rule_objects (org_id, rule_id);
