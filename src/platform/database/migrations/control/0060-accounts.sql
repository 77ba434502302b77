-- People: accounts, sessions, memberships and invitations. Secrets are stored as hashes, or encrypted.

CREATE TABLE people (
  id uuid PRIMARY KEY,
  name text NOT NULL CHECK (name <> ''),
  email text NOT NULL UNIQUE CHECK (email = lower(email) AND email <> ''),
  email_verified boolean NOT NULL,
  image text,
  two_factor_enabled boolean NOT NULL DEFAULT false,
  is_operator boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

-- One row per way to sign in: `credential` has the hash of a password.
CREATE TABLE people_accounts (
  id uuid PRIMARY KEY,
  person_id uuid NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  provider_id text NOT NULL,
  account_id text NOT NULL,
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (provider_id, account_id)
);

CREATE INDEX people_accounts_of_person ON people_accounts (person_id);

CREATE TABLE people_sessions (
  id uuid PRIMARY KEY,
  person_id uuid NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  -- SHA-256 of the token in the cookie.
  token_hash text NOT NULL UNIQUE,
  ip_address text,
  user_agent text,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

CREATE INDEX people_sessions_of_person ON people_sessions (person_id);
CREATE INDEX people_sessions_by_expiry ON people_sessions (expires_at);

-- Steps of a sign-in that continue in a later request, such as the second factor.
CREATE TABLE people_verifications (
  id uuid PRIMARY KEY,
  identifier text NOT NULL,
  value text NOT NULL,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

CREATE INDEX people_verifications_by_identifier ON people_verifications (identifier);
CREATE INDEX people_verifications_by_expiry ON people_verifications (expires_at);

CREATE TABLE people_two_factors (
  id uuid PRIMARY KEY,
  person_id uuid NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  -- Both are encrypted.
  secret text NOT NULL,
  backup_codes text NOT NULL,
  verified boolean,
  failed_verification_count integer,
  locked_until timestamptz
);

CREATE INDEX people_two_factors_of_person ON people_two_factors (person_id);

-- Attempts to sign in, shared by all instances. The key is a SHA-256 of an email or a network address.
CREATE TABLE people_attempts (
  key text PRIMARY KEY,
  attempts integer NOT NULL,
  window_ends_at timestamptz NOT NULL
);

CREATE INDEX people_attempts_by_end ON people_attempts (window_ends_at);

CREATE TABLE people_memberships (
  organisation_id uuid NOT NULL REFERENCES organisations (id) ON DELETE CASCADE,
  person_id uuid NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('administrator', 'member')),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (organisation_id, person_id)
);

CREATE INDEX people_memberships_of_person ON people_memberships (person_id);

CREATE TABLE people_invitations (
  id uuid PRIMARY KEY,
  -- SHA-256 of the token in the link.
  token_hash bytea NOT NULL UNIQUE,
  email text NOT NULL CHECK (email = lower(email) AND email <> ''),
  -- null: an invitation to become an operator
  organisation_id uuid REFERENCES organisations (id) ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('operator', 'administrator', 'member')),
  invited_by text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  accepted_at timestamptz,
  CHECK ((organisation_id IS NULL) = (role = 'operator'))
);

CREATE INDEX people_invitations_newest_first ON people_invitations (organisation_id, created_at DESC, id DESC);

-- The person and the session of a change; null for the operator token and the service.
ALTER TABLE admin_log ADD COLUMN person_id uuid, ADD COLUMN session_id uuid;
