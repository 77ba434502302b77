#!/usr/bin/env bash
# Runs what depends most on the database on the other supported version of PostgreSQL (17 where the tests use 18), without PgBouncer. The
# last line is `N passed, N failed`. Where that version cannot be installed, it prints the reason and exits with 3.
set -uo pipefail
cd "$(dirname "$0")/.."
PORTICO_POSTGRES_VERSION=$([[ $(bash scripts/postgres-for-tests.sh version 2>/dev/null) == 17 ]] && echo 18 || echo 17)
export PORTICO_POSTGRES_VERSION
url=$(bash scripts/postgres-for-tests.sh start | tail -n 1) || exit 3
trap 'bash scripts/postgres-for-tests.sh stop' EXIT
echo "PostgreSQL $PORTICO_POSTGRES_VERSION"
env -u PORTICO_TEST_POOLER PORTICO_TEST_DATABASE_URL="$url" npm test -- src/platform/database/change-feed src/platform/database/database.test.ts src/platform/database/move \
  src/platform/jobs src/gateway/billing/ledger.test.ts src/gateway/billing/usage-reports.test.ts src/documents/retrieval/retrieval test/contract/documents test/contract/space-chat \
  test/acceptance/gateway-budget
