import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/harness/longest-first.ts'

/** `npm run test:console`: the console in a real browser against the real service. */
export default defineConfig({
  test: {
    environment: 'node',
    include: ['test/console/**/*.test.ts'],
    globalSetup: ['test/harness/global-setup.ts', 'test/console/harness/build-once.ts'],
    setupFiles: ['test/harness/keep-compiled-code.ts', 'test/harness/remove-temporary-folders.ts'],
    sequence: { sequencer: LongestFirst },
    // As in vitest.config.ts.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    pool: 'forks',
    // Each file runs a service and a browser; CI has two cores.
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
  },
})
