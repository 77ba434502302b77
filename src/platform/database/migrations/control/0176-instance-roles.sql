-- What each running process does. Null: of a version before.
alter table ledger_instances add column role text;
-- Host and process, for the operator.
alter table ledger_instances add column name text;
-- Where it stores and reads uploaded files, in a form that is equal for the same place. Null: it does neither.
alter table ledger_instances add column file_store text;
