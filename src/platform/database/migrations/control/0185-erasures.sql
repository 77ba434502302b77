-- Erasures (src/erasures): requests, and the certificates of completed ones. Rows stay: a late write of erased data is compared with them.
CREATE TABLE erasures (
  id uuid PRIMARY KEY,
  organisation_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('user', 'document')),
  -- keyed with the secret key
  subject_digest text NOT NULL,
  -- encrypted; null from the completion on
  subject_sealed text,
  requested_at timestamptz NOT NULL,
  requested_by text NOT NULL,
  -- entries of the admin log
  log_entry_ids uuid[] NOT NULL,
  -- what was removed so far, by kind
  removed jsonb NOT NULL DEFAULT '{}',
  -- rows of the corpus database that are removed next; empty from the completion on
  plan jsonb NOT NULL DEFAULT '{}',
  -- an instance works on it until then; another one continues afterwards
  held_until timestamptz NOT NULL,
  failure text,
  completed_at timestamptz,
  certificate jsonb,
  CHECK ((completed_at IS NULL) = (subject_sealed IS NOT NULL) AND (completed_at IS NULL) = (certificate IS NULL))
);
CREATE UNIQUE INDEX erasures_open ON erasures (organisation_id, subject_digest) WHERE completed_at IS NULL;
CREATE INDEX erasures_newest_first ON erasures (organisation_id, requested_at DESC, id DESC);
CREATE INDEX erasures_by_subject ON erasures (organisation_id, subject_digest, requested_at);
CREATE INDEX erasures_due ON erasures (held_until) WHERE completed_at IS NULL;
