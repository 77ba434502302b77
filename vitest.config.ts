import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { databaseTests } from './test/database-tests.ts'
import { SlowFirst } from './test/slow-first.ts'
import { tiers } from './test/tiers.ts'

/** The projects are the runs of scripts/test.ts. Tests in the browser: vitest.console.config.ts. */

const serverUrl = process.env['PORTICO_TEST_DATABASE_URL'] || undefined

const shared = {
  environment: 'node' as const,
  globalSetup: ['test/harness/global-setup.ts'],
  setupFiles: ['processor-time', 'remove-temporary-folders', 'seed-properties'].map(
    (name) => `test/harness/${name}.ts`,
  ),
  // Node.js loads the files as in production, with its cache of compiled code.
  experimental: { viteModuleRunner: false, nodeLoader: false },
  pool: 'forks' as const,
  // Generous: machines are shared, and a test that hangs still fails.
  testTimeout: 60_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 20_000 } },
}

/** One process for each worker, which loads every module once and keeps its databases open (test/harness/database-pool.ts). */
const shareProcess = { isolate: false }
const embedded = { PORTICO_TEST_DATABASE_URL: '' }

export default defineConfig({
  test: {
    // A third worker uses the time in which the others wait.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: SlowFirst },
    projects: [
      { test: { ...shared, ...shareProcess, name: 'quick', ...tiers.quick, env: embedded } },
      { test: { ...shared, ...shareProcess, name: 'embedded', ...tiers.all, env: embedded } },
      ...(serverUrl === undefined
        ? []
        : [
            {
              test: {
                ...shared,
                ...shareProcess,
                name: 'postgres',
                include: databaseTests(),
                exclude: tiers.all.exclude,
                env: { PORTICO_TEST_DATABASE_URL: serverUrl },
              },
            },
          ]),
      { test: { ...shared, name: 'proofs', ...tiers.proofs } },
    ],
  },
})
