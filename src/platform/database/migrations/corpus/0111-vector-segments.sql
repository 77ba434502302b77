-- Indexes of the vectors of large Spaces, on a server. A segment is a table vector_segment_<id> with copies of the vectors of some
-- documents and an HNSW index; it is made in the background and never changed. Documents without a segment are searched exactly.
CREATE TABLE vector_segments (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- of the embedding version; not a reference, because the table of a segment outlives it for a moment
  version_id integer NOT NULL,
  organisation_id uuid NOT NULL,
  space_id uuid NOT NULL,
  -- building: not searched yet. ready: searched. retired: replaced; running searches may still read it
  state text NOT NULL CHECK (state IN ('building', 'ready', 'retired')),
  chunk_count integer NOT NULL DEFAULT 0,
  changed_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX vector_segments_by_space ON vector_segments (space_id);

-- The segments that contain the document: at most one of each embedding version that is ready. Others may be gone.
ALTER TABLE indexed_documents ADD COLUMN vector_segments integer[] NOT NULL DEFAULT '{}';
