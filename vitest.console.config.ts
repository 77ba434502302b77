import { defineConfig } from 'vitest/config'

/** `npm run test:console`: the console in a real browser against the real service. */
export default defineConfig({
  test: {
    environment: 'node',
    include: ['test/console/**/*.test.ts'],
    globalSetup: ['test/harness/global-setup.ts', 'test/console/harness/build-once.ts'],
    setupFiles: ['test/harness/processor-time.ts', 'test/harness/remove-temporary-folders.ts'],
    // As in vitest.config.ts.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    pool: 'forks',
    // A worker process loads the service and starts Chromium once for all its files.
    isolate: false,
    // Each file runs a service; CI has two cores.
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
  },
})
