-- What the operator declares of providers, models, deployments and prices; it lies above the configuration and the shipped
-- price snapshot. `declaration` holds what src/contract/models.ts describes. Changes are recorded in admin_log.

CREATE TABLE catalogue_providers (
  id text PRIMARY KEY,
  enabled boolean NOT NULL,
  -- null: only `enabled` is said, of a provider that the configuration declares.
  declaration jsonb,
  -- JSON of key, headers and credentials, sealed with the service's secret key, context `provider:<id>`.
  secrets_sealed text,
  api_key_last_four text,
  header_names text[] NOT NULL,
  has_credentials boolean NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

CREATE TABLE catalogue_models (
  id text PRIMARY KEY CHECK (id NOT LIKE 'eu/%'),
  declaration jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

CREATE TABLE catalogue_deployments (
  id text PRIMARY KEY,
  declaration jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

-- No foreign key: a deployment of the configuration or the snapshot can have the operator's price.
CREATE TABLE catalogue_prices (
  id uuid PRIMARY KEY,
  deployment_id text NOT NULL,
  valid_from timestamptz NOT NULL,
  -- US dollars per million tokens, decimals as text.
  prices jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  UNIQUE (deployment_id, valid_from)
);
