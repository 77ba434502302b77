-- Organisations, their one API key, the operator's token, and the log of administrative changes.

CREATE TABLE organisations (
  id uuid PRIMARY KEY,
  name text NOT NULL CHECK (name <> ''),
  plan text NOT NULL CHECK (plan IN ('free', 'team', 'enterprise')),
  subscription_status text NOT NULL CHECK (subscription_status IN ('active', 'cancelled')),
  subscription_starts_at timestamptz NOT NULL,
  subscription_ends_at timestamptz,
  gateway_enabled boolean NOT NULL,
  gateway_opt_in boolean NOT NULL,
  monthly_budget_pico_usd bigint NOT NULL CHECK (monthly_budget_pico_usd >= 0),
  markup_basis_points integer NOT NULL CHECK (markup_basis_points >= 0),
  time_zone text NOT NULL,
  period_anchor_day smallint NOT NULL CHECK (period_anchor_day BETWEEN 1 AND 28),
  disabled_models text[] NOT NULL,
  webhook_url text,
  -- Sealed with the service's secret key, context `webhook:<id>`.
  webhook_secret_sealed text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CHECK ((webhook_url IS NULL) = (webhook_secret_sealed IS NULL))
);

CREATE INDEX organisations_newest_first ON organisations (created_at DESC, id DESC);

-- The primary key is the promise: an organisation has at most one live key, whatever runs at the same time.
CREATE TABLE api_keys (
  organisation_id uuid PRIMARY KEY REFERENCES organisations (id) ON DELETE CASCADE,
  key_hash bytea NOT NULL UNIQUE,
  prefix text NOT NULL,
  last_four text NOT NULL,
  created_at timestamptz NOT NULL
);

-- One row at most: the operator's token that is valid now.
CREATE TABLE operator_token (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  token_hash bytea NOT NULL,
  prefix text NOT NULL,
  last_four text NOT NULL,
  created_at timestamptz NOT NULL
);

-- Append-only. `before` and `after` hold the changed fields only, and never a secret.
CREATE TABLE admin_log (
  id uuid PRIMARY KEY,
  at timestamptz NOT NULL,
  actor text NOT NULL,
  request_id text,
  action text NOT NULL,
  subject_type text NOT NULL,
  subject_id text NOT NULL,
  organisation_id uuid,
  before jsonb,
  after jsonb
);

CREATE INDEX admin_log_newest_first ON admin_log (at DESC, id DESC);
CREATE INDEX admin_log_by_organisation ON admin_log (organisation_id, at DESC, id DESC);
