-- Nobody searches for changes, and gathering statistics on the elements of large arrays takes seconds, every minute.
alter table report_sheet alter column changes set statistics 0;

-- 0018 made one sheet of all that an organization had waiting; a folder takes none in part, so one too large could never be folded.
with large as (
  delete from report_sheet where cardinality(changes) > 500 returning org_id, changes
)
insert into report_sheet (org_id, id, changes)
select org_id, gen_random_uuid(), array_agg(change) from (
  select large.org_id, change, (row_number() over (partition by large.org_id) - 1) / 500 as sheet from large, unnest(large.changes) as change
) numbered group by org_id, sheet;
