-- What became of a conversion after it was recorded. The event's own row never changes: its last revision says what it counts for.

-- Insert-only. An event without a row here is approved with its payout.
create table event_revisions (
  org_id integer not null,
  event_id uuid not null,
  seq smallint not null check (seq between 1 and 100),
  status text not null check (status in ('approved', 'pending', 'rejected', 'refunded', 'chargeback')),
  amount numeric not null check (amount between 0 and 1000000),
  original_amount numeric,
  original_currency text,
  rate numeric,
  reason text,
  source text not null check (source in ('network', 'dashboard', 'import', 'hold')),
  network_id uuid,
  actor uuid,
  created_at timestamptz not null,
  primary key (org_id, event_id, seq)
);
create index event_revisions_status on event_revisions (org_id, status, created_at);
comment on column event_revisions.amount is 'US dollars: what counts where it is approved, what is on hold where it is pending, else 0';
comment on column event_revisions.original_amount is 'what was said, in original_currency, where that was not US dollars; rate: US dollars per unit';
comment on column event_revisions.source is 'hold: the hold period of its network was over';
comment on column event_revisions.actor is 'the person who did it, where one did';

-- What is pending only until a day: approved then, unless something else was said before.
create table held_events (
  org_id integer not null,
  event_id uuid not null,
  click_id uuid not null,
  seq smallint not null,
  approve_at timestamptz not null,
  primary key (org_id, event_id)
);
create index held_events_due on held_events (org_id, approve_at);
comment on column held_events.seq is 'the revision that put it on hold: a later one has taken its place';

-- Null: as before, no later amount changes a conversion that is approved, and nothing is approved by time alone.
alter table networks add column amend boolean;
alter table networks add column hold_days smallint;
comment on column networks.amend is 'true: a later paid word with another amount changes an approved conversion';
comment on column networks.hold_days is 'after so many days what this network holds is approved';
