-- Questions that were saved under a name: somebody's own, or the workspace's.
create table explore_views (
  org_id integer not null,
  id uuid not null,
  name text not null,
  question jsonb not null,
  screen jsonb,
  is_shared boolean not null,
  is_start_page boolean not null,
  created_by uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, id)
);
comment on column explore_views.screen is 'what the dashboard keeps beside the question: its days, columns and tab';
comment on column explore_views.is_shared is 'true: the workspace''s; false: seen by created_by alone';
create unique index explore_views_start_of_workspace on explore_views (org_id) where is_shared and is_start_page;
create unique index explore_views_start_of_person on explore_views (org_id, created_by) where not is_shared and is_start_page;
