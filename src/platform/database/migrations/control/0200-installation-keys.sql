-- Keys that outlive the secret key, under which they are encrypted (src/operators/installation-keys.store.ts).
CREATE TABLE installation_keys (
  name text PRIMARY KEY,
  sealed text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
