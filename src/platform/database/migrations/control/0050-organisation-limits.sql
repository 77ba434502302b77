-- Limits of one organisation, on each instance. Defaults: src/organisations/organisation.ts.
ALTER TABLE organisations
  ADD COLUMN max_concurrent_calls integer NOT NULL DEFAULT 256 CHECK (max_concurrent_calls BETWEEN 1 AND 100000),
  -- null: no limit
  ADD COLUMN requests_per_minute integer CHECK (requests_per_minute BETWEEN 1 AND 10000000),
  ADD COLUMN max_concurrent_uploads integer NOT NULL DEFAULT 16 CHECK (max_concurrent_uploads BETWEEN 1 AND 1000);
