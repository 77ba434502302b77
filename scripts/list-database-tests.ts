import { readModule } from './checks/dependencies.ts'
import { readSourceFiles } from './checks/source-files.ts'

/**
 * Prints the test files that open a database, one per line: those whose imports lead to the harness that chooses the engine. Only they
 * can behave differently on PostgreSQL, so CI runs only them a second time.
 */
const harness = 'test/harness/database-template.ts'
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
const tests = [...reached].filter((file) => /\.test\.tsx?$/.test(file) && !file.startsWith('test/console/'))
console.log(tests.toSorted().join('\n'))
