-- What the clicks of a cell (campaign, sub1) have cost by days and weeks, to be taken out of a report where spend was entered in its place. The
-- day stands in it as a number, so that a search for days of a cell cannot be planned by the primary key, which has the days of a cell far apart.
create index report_day_cell on report_day (org_id, dimension, campaign_id, key, (day - date '0001-01-01')) where dimension in (3, 23);
