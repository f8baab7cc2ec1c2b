-- A spread of another currency is divided in it, and each part turned into dollars by the rate of its day.
alter table spend_spreads add column original_amount numeric;
alter table spend_spreads add column currency text;
comment on column spend_spreads.original_amount is 'what was spread, in currency; null: US dollars, as amount says';
