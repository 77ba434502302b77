-- Which documents of a Space match a filter.
create index concurrently if not exists documents_by_filter_fields on documents using gin (filter_fields jsonb_path_ops);
