-- After a probation, a rule lets a part of the visitors with a left-out value in again.
alter table left_out_values add column let_in_share real;
comment on column left_out_values.let_in_share is 'the part of the visitors with the value that is let in, above 0 and below 1; null: none';
