-- Clicks by the click id of their traffic source. A summary of each few pages, because an entry for each click would cost the redirect a random
-- page write. With its defaults, because Citus takes no parameters of operator classes. PostgreSQL summarizes full ranges itself; the search
-- reads the newest clicks one by one until then.
create index clicks_ref_id on clicks using brin (ref_id text_bloom_ops) with (pages_per_range = 64, autosummarize = on);
