-- A folder takes no less than a sheet: what 0018 gathered of an organization into one becomes sheets that it can finish in time.
with gathered as (
  delete from report_sheet where pg_column_size(changes) > 100000 returning org_id, changes
), numbered as (
  select g.org_id, c as change, row_number() over (partition by g.org_id) / 500 as sheet from gathered g, unnest(g.changes) as c
)
insert into report_sheet (org_id, id, changes)
  select org_id, gen_random_uuid(), array_agg(change) from numbered group by org_id, sheet;

-- Nobody searches for changes, and gathering statistics on the elements of large arrays takes seconds, every minute.
alter table report_sheet alter column changes set statistics 0;
