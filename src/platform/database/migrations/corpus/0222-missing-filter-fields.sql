-- Documents from before the column, until a job has filled it.
create index concurrently if not exists documents_without_filter_fields on documents (id) where filter_fields is null;
