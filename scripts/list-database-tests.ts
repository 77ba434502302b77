import { readModule } from './checks/dependencies.ts'
import { readSourceFiles } from './checks/source-files.ts'

/**
 * Prints the test files that CI runs a second time, on PostgreSQL, one per line: those whose imports lead to the harness that chooses the
 * engine, except those that use the same engine or none in every run, and those in whose subject the database has no part.
 */
const harness = 'test/harness/database-template.ts'

const onceOnly = [
  // Each opens folders of the embedded engine.
  'src/database/embedded/',
  'test/acceptance/uncaught.test.ts',
  // Only a folder of the harness, or a function that removes one.
  'src/billing/journal/journal.test.ts',
  'src/billing/journal/records.test.ts',
  'test/acceptance/compose-example.test.ts',
  'test/acceptance/helm-chart.test.ts',
  // Sockets of clients that send slowly; a page of documentation; npm on a terminal.
  'test/acceptance/slow-clients.test.ts',
  'test/acceptance/api-page.test.ts',
  'test/acceptance/start-on-terminal.test.ts',
]
const folders = ['src', 'cli', 'bench', 'eval', 'scripts', 'test', 'web']

const importers = new Map<string, string[]>()
const files = readSourceFiles(folders, /(?<!\.d)\.tsx?$/)
for (const file of files) {
  for (const { to } of readModule(file).imports) importers.set(to, [...(importers.get(to) ?? []), file.path])
}
if (!files.some(({ path }) => path === harness))
  throw new Error(`${harness} is missing: this script must name the harness`)

const reached = new Set([harness])
for (const file of reached) for (const importer of importers.get(file) ?? []) reached.add(importer)
const isLeftOut = (file: string) => ['test/console/', ...onceOnly].some((start) => file.startsWith(start))
const tests = [...reached].filter((file) => /\.test\.tsx?$/.test(file) && !isLeftOut(file))
const unused = onceOnly.filter((start) => ![...reached].some((file) => file.startsWith(start)))
if (unused.length > 0) throw new Error(`no test to leave out: ${unused.join(', ')}`)
console.log(tests.toSorted().join('\n'))
