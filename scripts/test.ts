import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { tiers } from '../test/tiers.ts'
import { readJournal, summarise } from './ci/journal.ts'
import { writeTestTimes } from './ci/test-times.ts'

/**
 * `npm test` and `npm run test:all`: `test.ts quick|all [arguments of vitest]`. With the name of a test file, `npm test` runs that file
 * whatever its tier. The last lines state what was left out, what failed, and `N passed, N failed`.
 */
const root = path.resolve(import.meta.dirname, '..')
const [tier = 'quick', ...given] = process.argv.slice(2)
const serverUrl = process.env['PORTICO_TEST_DATABASE_URL']
const namesFiles = given.some((argument) => !argument.startsWith('-'))

/** Of vitest.config.ts. */
function projects(): string[] {
  if (given.some((argument) => argument.startsWith('--project'))) return []
  if (namesFiles && given.some((argument) => /proof|chaos/.test(argument))) return ['proofs']
  if (tier === 'quick' && !namesFiles) return ['quick']
  if (tier === 'all') return serverUrl ? ['embedded', 'postgres'] : ['embedded']
  return [serverUrl ? 'postgres' : 'embedded']
}

const folder = mkdtempSync(path.join(tmpdir(), 'portico-test-'))
const journal = process.env['PORTICO_TEST_JOURNAL'] ?? path.join(folder, 'journal.jsonl')
const times = path.join(folder, 'times')
const { status } = spawnSync(
  process.execPath,
  [
    path.join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    ...projects().map((name) => `--project=${name}`),
    '--reporter=default',
    `--reporter=${path.join(root, 'scripts/ci/journal-reporter.ts')}`,
    ...given,
  ],
  { cwd: root, stdio: 'inherit', env: { ...process.env, PORTICO_TEST_JOURNAL: journal, PORTICO_TEST_TIMES: times } },
)
const { passed, failed, skipped, faults } = summarise(readJournal(journal), status ?? 1)
if (!namesFiles) {
  if (projects().join() === 'quick') writeTestTimes(times)
  console.log(leftOut())
}
rmSync(folder, { recursive: true })
for (const fault of faults) console.log(`FAILED: ${fault}`)
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
process.exitCode = failed === 0 && status === 0 ? 0 : 1

function leftOut(): string {
  const count = ({ include, exclude }: { include: string[]; exclude: string[] }) =>
    globSync(include, { cwd: root, exclude }).length
  const proofs = `${count(tiers.proofs)} proofs: npm run test:proofs`
  const browser = 'the console in a browser: npm run test:console'
  if (tier === 'all')
    return `Not run: ${proofs}; ${browser}${serverUrl ? '' : '; PostgreSQL: PORTICO_TEST_DATABASE_URL'}.`
  return `Not run: ${count(tiers.all) - count(tiers.quick)} slower test files, and PostgreSQL: npm run test:all; ${proofs}; ${browser}.`
}
