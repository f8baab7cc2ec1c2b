-- Never altered: running processes write it. A visit with another column gets another type.
create type new_page_visit as (
  token uuid,
  campaign_id uuid,
  click_id uuid,
  received_at timestamptz,
  via text,
  page text,
  site text,
  untracked_reason text
);
