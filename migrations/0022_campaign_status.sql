-- Paused and archived campaigns send their visitors to the fallback. The version before knows no status and takes every campaign for active.
alter table campaigns add column status text not null default 'active';
alter table campaigns add constraint campaigns_status_check check (status in ('active', 'paused', 'archived'));

-- What came for a campaign while it was paused or archived is counted from here; such a click has no way through a click flow.
comment on column clicks.click_flow_node_path is 'the version of a click flow and the nodes that led here; paused: a click made while its campaign was paused or archived';
create index clicks_while_paused on clicks (org_id, campaign_id, id) where click_flow_node_path = 'paused';
