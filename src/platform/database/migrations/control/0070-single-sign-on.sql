-- Single sign-on, and links with which a person sets a new password.

-- True: the role follows the groups of the person at each sign-in. False: people gave it.
ALTER TABLE people_memberships ADD COLUMN from_groups boolean NOT NULL DEFAULT false;
ALTER TABLE people ADD COLUMN operator_from_groups boolean NOT NULL DEFAULT false;

-- The session is not renewed beyond this time; null: each visit renews it.
ALTER TABLE people_sessions ADD COLUMN final_at timestamptz;

CREATE TABLE people_password_resets (
  -- At most one open link per person: a new one replaces it.
  person_id uuid PRIMARY KEY REFERENCES people (id) ON DELETE CASCADE,
  -- SHA-256 of the token in the link.
  token_hash text NOT NULL UNIQUE,
  removes_second_factor boolean NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
