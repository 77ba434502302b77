import { configDefaults, defineConfig } from 'vitest/config'
import { LongestFirst } from './test/harness/longest-first.ts'

export default defineConfig({
  test: {
    environment: 'node',
    include: [
      'src/**/*.test.ts',
      'test/**/*.test.ts',
      'cli/**/*.test.ts',
      'bench/**/*.test.ts',
      'eval/**/*.test.ts',
      'scripts/**/*.test.ts',
      'web/**/*.test.ts',
    ],
    // Tests in the browser: vitest.console.config.ts.
    exclude: [...configDefaults.exclude, 'test/console/**'],
    globalSetup: ['test/harness/global-setup.ts'],
    setupFiles: ['test/harness/keep-compiled-code.ts', 'test/harness/remove-temporary-folders.ts'],
    sequence: { sequencer: LongestFirst },
    // Node.js loads the files as in production, with its cache of compiled code: two seconds of processor time less per file of a service.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    pool: 'forks',
    // Each test file may open two embedded databases of 180 MB each; CI has two cores.
    maxWorkers: 2,
    // Generous: the machines are shared, and a test that hangs still fails.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
  },
})
