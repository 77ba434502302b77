import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')
const few = ['--minutes', '0.1', '--warm-up', '30', '--rate', '20', '--documents', '3']

/** A short run proves the command, not the memory. */
test('npm run soak prints what a service keeps, and judges no short run', { timeout: 240_000 }, async () => {
  const run = promisify(execFile)
  const { stdout } = await run(path.join(root, 'bin/run'), ['scripts/soak.ts', ...few], { cwd: root })
  expect(stdout).toMatch(/^resident memory: [+-]\d+\.\d{3} MiB a minute$/m)
  expect(stdout).toMatch(/^open handles: /m)
  expect(stdout).toMatch(/^databases: -?\d+ bytes a request$/m)
  expect(stdout).toMatch(/not judged/)
})
