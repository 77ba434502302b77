-- Segments outside of the database: tables of LanceDB in a folder or an object store.
ALTER TABLE vector_segments
  -- the address of the table; null: a table vector_segment_<id> of this database
  ADD COLUMN storage text,
  -- its name there
  ADD COLUMN table_name text,
  -- in how many of its chunks a term occurs: pairs of big-endian integers, sorted by term
  ADD COLUMN term_counts bytea;
