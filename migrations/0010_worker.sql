-- What the worker remembers beyond a delivery's state: what was sent, how it failed, and which targets are failing.

alter table delivery_attempts add column body text;
comment on column delivery_attempts.body is 'what the lane shows of the body that was sent; secrets are struck out of it';

alter table deliveries add column attempts_uncounted integer not null default 0;
comment on column deliveries.attempts_uncounted is 'attempts that do not count towards giving up: before a resend, broken off by a worker that closed, made over a dead connection';
alter table deliveries add column failure text
  check (failure in ('timeout', 'connection', 'blocked', 'redirect', 'http_4xx', 'http_5xx', 'rejected', 'disconnected'));
comment on column deliveries.failure is 'the class of the last attempt''s failure, null after a success';

-- A row is there only while a target fails: from its first failure to its next success.
create table failing_targets (
  org_id integer not null,
  kind text not null check (kind in ('postback', 'ad_account')),
  target_id uuid not null,
  failures integer not null,
  failing_since timestamptz not null,
  pauses integer not null default 0,
  paused_until timestamptz,
  primary key (org_id, kind, target_id)
);
comment on column failing_targets.failures is 'failed attempts since the last success';
comment on column failing_targets.pauses is 'how often its breaker has opened since the last success';
comment on column failing_targets.paused_until is 'while its breaker is open: when one delivery may try again';
