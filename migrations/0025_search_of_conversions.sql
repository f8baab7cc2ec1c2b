-- What people hold when a conversion is missing: the network's transaction id, or the click id of the traffic source.
create index events_nonce on events (org_id, nonce) where nonce is not null;
create index clicks_ref_id on clicks (org_id, ref_id) where ref_id is not null;
