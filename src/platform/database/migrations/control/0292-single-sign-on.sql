-- Single sign-on that operators set up in the console (src/tenants/accounts). Unused while the configuration file has it.
CREATE TABLE single_sign_on (
  -- 'draft': what operators edit and test; 'active': with what people sign in
  id text PRIMARY KEY CHECK (id IN ('draft', 'active')),
  settings jsonb NOT NULL,
  secret_sealed text NOT NULL,
  -- another one for other values: a test counts for the values that it was made with
  revision uuid NOT NULL,
  updated_at timestamptz NOT NULL
);

-- The last test sign-in of each operator.
CREATE TABLE single_sign_on_tests (
  person_id uuid PRIMARY KEY REFERENCES people (id) ON DELETE CASCADE,
  session_id uuid NOT NULL,
  state_hash text NOT NULL UNIQUE,
  revision uuid NOT NULL,
  started_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- when the callback came: a second one is refused
  taken_at timestamptz,
  outcome jsonb
);
