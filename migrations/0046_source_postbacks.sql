-- A rule of a traffic source calls for conversions of clicks whose campaign has that source.
alter table postback_rules add column traffic_source_id uuid;
comment on column postback_rules.traffic_source_id is 'the rule''s campaign_id is then the nil id, which no campaign has: a process of the version before would call it for every campaign';
