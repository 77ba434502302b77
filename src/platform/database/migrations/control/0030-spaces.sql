-- Spaces, and the removals of their documents that are still to be done in the corpus database.

CREATE TABLE spaces (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL REFERENCES organisations (id),
  name text NOT NULL CHECK (name <> ''),
  instructions text NOT NULL,
  model text NOT NULL,
  settings jsonb NOT NULL,
  published boolean NOT NULL,
  -- Made at the first publish and kept for good.
  endpoint_id uuid UNIQUE,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CHECK (NOT published OR endpoint_id IS NOT NULL)
);

CREATE INDEX spaces_newest_first ON spaces (organisation_id, created_at DESC, id DESC);

-- Written in the transaction that deletes the Space; removed when the documents are proved gone.
CREATE TABLE space_removals (
  space_id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL,
  removed_at timestamptz NOT NULL,
  attempts integer NOT NULL,
  -- The first pass is done; a second one, later, catches uploads that were under way while the Space was deleted.
  first_pass_done boolean NOT NULL,
  -- Not before this time; also the lease of the instance that works on it.
  next_attempt_at timestamptz NOT NULL
);

CREATE INDEX space_removals_due ON space_removals (next_attempt_at);
