-- The chunks of a table of LanceDB, in the order of its rows; null: a table of an earlier version, which is made again.
alter table vector_segments add column chunk_ids bytea;
