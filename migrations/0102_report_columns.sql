-- What a person has chosen the Report page to show: columns, figures of their own and colours. null: as it opens for everyone.
alter table users add column report_columns json;
