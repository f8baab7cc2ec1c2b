-- What a payout was in another currency, and the rate it was turned into the event's dollars by. Written with the event, never changed after.
create table event_money (
  org_id integer not null,
  event_id uuid not null,
  original_amount numeric not null,
  currency text not null,
  usd_per_unit numeric not null,
  rate_day date not null,
  rate_source text not null,
  primary key (org_id, event_id)
);
comment on column event_money.rate_source is 'a source of fx_rates, or own';

-- Networks that are there go on refusing what is not in dollars.
alter table networks add column currency text not null default 'USD';
alter table networks add column convert boolean not null default false;
comment on column networks.currency is 'what a call is in that names no currency; from_call: it must name one';
comment on column networks.convert is 'whether what is in another currency is turned into dollars, or refused';

alter table offers add column payout_currency text;
comment on column offers.payout_currency is 'null: US dollars';

-- A process of the version before replaces the amount alone, and then they say what it is no more.
alter table ad_spend add column original_amount numeric;
alter table ad_spend add column currency text;
alter table ad_spend add column usd_per_unit numeric;
alter table ad_spend add column rate_day date;
alter table ad_spend add column rate_source text;
comment on column ad_spend.original_amount is 'what was entered in another currency; it counts where original_amount * usd_per_unit is still the amount';

alter table organizations add column reporting_currency text;
comment on column organizations.reporting_currency is 'what the dashboard shows amounts in; the books are in US dollars';
