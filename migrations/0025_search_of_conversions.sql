-- What people hold when a conversion is missing: the network's transaction id.
create index events_nonce on events (org_id, nonce) where nonce is not null;
