-- A campaign that leads to an offer is a redirect with the offer's id beside its address: the version before reads it as the redirect it
-- was, goes on by the address, and writes a destination back without the id. It follows while the id is that of the offer it names.
comment on column campaigns.destination is 'a redirect that holds offer_id, the same as the column''s, follows that offer''s address; its url is the address when it was saved';

update campaigns c set destination = c.destination || jsonb_build_object('offer_id', c.offer_id)
from offers o
where o.org_id = c.org_id and o.id = c.offer_id and o.deleted_at is null and c.deleted_at is null
  and c.destination ->> 'type' = 'redirect' and c.destination ->> 'url' = o.url;
