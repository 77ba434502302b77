-- The websites of published Spaces (src/chat/visitors).
CREATE TABLE sites (
  space_id uuid PRIMARY KEY REFERENCES spaces (id) ON DELETE CASCADE,
  organisation_id uuid NOT NULL,
  -- of the address /s/NAME
  name text NOT NULL UNIQUE,
  -- in the snippets of other websites
  public_id uuid NOT NULL UNIQUE,
  enabled boolean NOT NULL,
  paused boolean NOT NULL,
  settings jsonb NOT NULL,
  -- scrypt, with its salt
  password_hash text,
  daily_cap_pico_usd bigint NOT NULL CHECK (daily_cap_pico_usd >= 0),
  -- raised by each change; sessions name it
  generation integer NOT NULL,
  updated_at timestamptz NOT NULL
);

-- What visitors cost on a day of the organisation's time zone.
CREATE TABLE site_days (
  space_id uuid NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
  day date NOT NULL,
  -- the highest cap of the day
  ceiling_pico_usd bigint NOT NULL,
  -- granted to answers that run, the sum of site_answers
  held_pico_usd bigint NOT NULL DEFAULT 0 CHECK (held_pico_usd >= 0),
  spent_pico_usd bigint NOT NULL DEFAULT 0 CHECK (spent_pico_usd >= 0),
  -- of the last statement that granted
  granted_pico_usd bigint NOT NULL DEFAULT 0,
  visits integer NOT NULL DEFAULT 0,
  messages integer NOT NULL DEFAULT 0,
  PRIMARY KEY (space_id, day),
  CHECK (held_pico_usd + spent_pico_usd <= ceiling_pico_usd)
);

-- What an answer that runs may still cost. A row that a dead process left keeps its money until the day is over.
CREATE TABLE site_answers (
  request_id text PRIMARY KEY,
  space_id uuid NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
  day date NOT NULL,
  held_pico_usd bigint NOT NULL CHECK (held_pico_usd >= 0)
);
CREATE INDEX site_answers_by_day ON site_answers (day);

-- Puzzles that were solved: each counts once on all instances.
CREATE TABLE site_proofs (
  signature text PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX site_proofs_by_end ON site_proofs (expires_at);
