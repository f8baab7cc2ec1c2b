-- Keys whose tools ask before they destroy: such a call needs the confirmation that its own dry run handed out.
alter table api_keys add column ask_first boolean not null default false;
comment on column api_keys.ask_first is 'a destructive tool call needs the confirmation of its own dry run; plain HTTP calls do not';
comment on table creations is 'objects created by keys with an Idempotency-Key, and confirmations that keys have used, kept for a day';
