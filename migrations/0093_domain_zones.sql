-- A row for each registrable domain under which a name was ever checked, such as example.co.uk. Whoever decides whose a name is locks the row of its domain: so of two
-- workspaces that bring names of one domain at the same moment, the second one sees the first.
create table domain_zones (
  name text primary key
);
