-- Questions with the documents and facts that an answer must have (src/golden-questions).

CREATE TABLE golden_questions (
  id uuid PRIMARY KEY,
  space_id uuid NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
  organisation_id uuid NOT NULL,
  messages jsonb NOT NULL,
  -- the last message
  question text NOT NULL,
  -- of the last message, as in insight_questions
  question_hash bytea NOT NULL,
  -- SHA-256 of all messages: no conversation twice
  messages_hash bytea NOT NULL,
  -- [{id, name}]; the documents are in the corpus database
  expected_documents jsonb NOT NULL,
  expected_facts jsonb NOT NULL,
  must_abstain boolean NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (space_id, messages_hash)
);
CREATE INDEX golden_questions_in_order ON golden_questions (space_id, created_at, id);

-- Of Spaces whose settings are not the default ones.
CREATE TABLE golden_settings (
  space_id uuid PRIMARY KEY REFERENCES spaces (id) ON DELETE CASCADE,
  organisation_id uuid NOT NULL,
  settings jsonb NOT NULL,
  -- by the schedule
  next_run_at timestamptz
);
CREATE INDEX golden_settings_by_next_run ON golden_settings (next_run_at) WHERE next_run_at IS NOT NULL;
