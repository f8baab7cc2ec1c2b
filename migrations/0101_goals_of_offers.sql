-- A workspace need not choose a goal: each campaign then counts what its offers pay for.
alter table event_settings alter column goal drop not null;
comment on column event_settings.goal is 'null: each campaign counts the types that its offers pay for';
