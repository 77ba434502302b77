-- The last test of each provider, for the operator's pages. A removed provider keeps its row; it is not shown.
CREATE TABLE catalogue_provider_tests (
  provider_id text PRIMARY KEY,
  tested_at timestamptz NOT NULL,
  -- What src/contract/models.ts calls ProviderTest; contains no secrets.
  result jsonb NOT NULL
);
