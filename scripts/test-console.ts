import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readJournal, summarise } from './ci/journal.ts'

/** Runs the tests of the console. Arguments go to vitest. The last line is `N passed, N failed`. */

const root = path.resolve(import.meta.dirname, '..')
const folder = mkdtempSync(path.join(tmpdir(), 'portico-test-console-'))
const journal = process.env['PORTICO_TEST_JOURNAL'] ?? path.join(folder, 'journal.jsonl')
const options = [
  '--config',
  'vitest.console.config.ts',
  '--reporter=default',
  `--reporter=${path.join(root, 'scripts/ci/journal-reporter.ts')}`,
]
const { status } = spawnSync(
  process.execPath,
  [path.join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...options, ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit', env: { ...process.env, PORTICO_TEST_JOURNAL: journal } },
)
const { passed, failed } = summarise(readJournal(journal), status ?? 1)
rmSync(folder, { recursive: true })
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
