-- Spend that was not entered cell by cell: an amount of a window that was spread over its clicks, and what ad platforms say. It gives way to
-- ad_spend, whose key knows no origin because processes of the version before write by it.
create table booked_spend (
  org_id integer not null,
  day date not null,
  campaign_id uuid not null,
  sub1 text not null,
  origin text not null,
  amount numeric not null,
  primary key (org_id, day, campaign_id, sub1, origin)
);
create index booked_spend_origin on booked_spend (org_id, origin, day);
comment on table booked_spend is 'a row with amount 0 covers its cell: what is of lower rank there does not count';
comment on column booked_spend.sub1 is 'empty: covers the campaign and day as a whole';
comment on column booked_spend.origin is 'spread:<id> or account:<id>; a spread goes before an account';
comment on column booked_spend.amount is 'US dollars, up to 6 decimals';

create table spend_spreads (
  org_id integer not null,
  id uuid not null,
  campaign_id uuid not null,
  sub1 text not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  amount numeric not null,
  clicks bigint not null,
  created_by uuid not null,
  created_at timestamptz not null,
  taken_back_by uuid,
  taken_back_at timestamptz,
  primary key (org_id, id)
);
create index spend_spreads_campaign on spend_spreads (org_id, campaign_id) where taken_back_at is null;
comment on column spend_spreads.sub1 is 'empty: the campaign as a whole';
comment on column spend_spreads.to_at is 'the first moment behind it';
comment on column spend_spreads.clicks is 'tracked clicks it was divided by, as they were then';
