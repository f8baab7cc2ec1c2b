-- The notice of a low balance, and top-ups that are entered once however often they are sent.

-- A constant default, so that the organizations that exist are warned as well.
alter table balances add column low_balance_threshold numeric default 1 check (low_balance_threshold >= 0);
comment on column balances.low_balance_threshold is 'members are warned while the balance is below it; null: never';

alter table ledger add column nonce text;
comment on column ledger.nonce is 'the sender''s own name of a top-up or an adjustment, so that a resend is the same entry';
create unique index ledger_entered_once on ledger (org_id, nonce) where nonce is not null;

-- One row for each time a balance fell below its threshold.
create table low_balance_notices (
  org_id integer not null,
  id uuid not null,
  threshold numeric not null,
  balance numeric not null,
  began_at timestamptz not null,
  ended_at timestamptz,
  claimed_until timestamptz,
  mailed_at timestamptz,
  primary key (org_id, id)
);
-- One at a time: who may not add a second one does not write a second mail.
create unique index low_balance_notices_open on low_balance_notices (org_id) where ended_at is null;
comment on column low_balance_notices.claimed_until is 'some process is sending the mails until then';
