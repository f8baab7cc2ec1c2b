-- What Google's list of suspected sites says of names in service, where the operator has a key to it. A verdict may be half an hour old at most.
alter table domains add column flagged jsonb;
alter table domains add column looked_up_at timestamptz;
comment on column domains.flagged is 'threats, and since when they were first seen; null: none';
comment on column domains.looked_up_at is 'when Google was asked last; claimed by it as well';
