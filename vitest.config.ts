import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    environment: 'node',
    include: [
      'src/**/*.test.ts',
      'test/**/*.test.ts',
      'cli/**/*.test.ts',
      'bench/**/*.test.ts',
      'scripts/**/*.test.ts',
    ],
    globalSetup: ['test/harness/global-setup.ts'],
    pool: 'forks',
    // Each test file may open two embedded databases of 180 MB; the machines that run this have two cores.
    maxWorkers: 2,
    // Generous: machines that run this are shared, and a test that hangs is told apart from a slow one soon enough.
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
})
