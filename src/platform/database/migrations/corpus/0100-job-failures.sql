-- Why the last attempt of a job failed.
ALTER TABLE job ADD COLUMN failure text;

-- Jobs that were not tried again. The newest are kept.
CREATE TABLE job_failures (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL,
  organisation_id text NOT NULL,
  space_id text NOT NULL,
  attempts integer NOT NULL,
  reason text NOT NULL,
  given_up_at timestamptz NOT NULL
);

-- Failed documents, newest first, without a scan of all documents.
CREATE INDEX documents_failed ON documents (updated_at DESC, id DESC) WHERE status = 'failed';
