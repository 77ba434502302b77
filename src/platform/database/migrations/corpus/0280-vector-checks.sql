-- The share that vectors of an embedding version have in the search of a Space, chosen by questions with known answers made from its texts.
create table vector_checks (
  organisation_id uuid not null,
  space_id uuid not null,
  version_id integer not null references embedding_generations (id) on delete cascade,
  -- 0..1; null: it could not be measured, for now
  weight double precision,
  -- of the Space when it was measured
  chunks integer not null,
  questions integer not null,
  -- mean reciprocal rank of the passage that a question was made from: by words alone, and with the weight
  lexical_rank double precision,
  fused_rank double precision,
  checked_at timestamptz not null default clock_timestamp(),
  primary key (space_id, version_id)
);
