#!/usr/bin/env bash
# The tests with random choices, on the embedded engine, with the seed that PORTICO_TEST_SEED names.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t files < <(grep -rlE "from 'fast-check'|harness/seed.ts'" src test cli web scripts --include='*.test.ts' | grep -v '\.proof\.test\.ts$')
exec bin/run scripts/test.ts all --project=embedded "${files[@]}"
