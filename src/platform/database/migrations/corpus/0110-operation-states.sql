-- Operations can change metadata, and can be stopped.
alter table document_operations
  drop constraint document_operations_kind_check,
  add constraint document_operations_kind_check check (kind in ('delete', 'retry', 'metadata')),
  -- {set, remove} of a change of metadata; json, not jsonb: the texts of the values are stored as they were sent
  add column metadata_change json,
  -- documents that could not be changed
  add column skipped integer not null default 0,
  -- why it ended before its last document; null if it did not
  add column ended_by text check (ended_by in ('stop', 'failure'));
