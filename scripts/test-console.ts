import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** Runs the tests of the console. Arguments go to vitest. The last line is `N passed, N failed`. */

interface Report {
  numPassedTests: number
  numFailedTests: number
  testResults: { status: string; assertionResults: unknown[] }[]
}

const root = path.resolve(import.meta.dirname, '..')
const folder = mkdtempSync(path.join(tmpdir(), 'portico-test-console-'))
const report = path.join(folder, 'report.json')
const options = [
  '--config',
  'vitest.console.config.ts',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
]
const { status } = spawnSync(
  process.execPath,
  [path.join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...options, ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
)
const { numPassedTests, numFailedTests, testResults }: Report = JSON.parse(readFileSync(report, 'utf8'))
rmSync(folder, { recursive: true })
// A file that breaks before its first test has no failed test.
const broken = testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length
const failed = Math.max(numFailedTests + broken, status === 0 ? 0 : 1)
console.log(`${numPassedTests} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
