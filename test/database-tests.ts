import { readModule } from '../scripts/checks/dependencies.ts'
import { readSourceFiles } from '../scripts/checks/source-files.ts'

/** Of this tests choose their engine. */
const harness = 'test/harness/database-template.ts'

/** They use the same engine or none in every run, or the database has no part in their subject. */
const onceOnly = [
  // Each opens folders of the embedded engine.
  'src/platform/database/embedded/',
  'test/acceptance/uncaught.test.ts',
  // Only a folder of the harness, or a function that removes one.
  'src/gateway/billing/journal/journal.slow.test.ts',
  'src/gateway/billing/journal/records.test.ts',
  'test/acceptance/compose-example.test.ts',
  'test/acceptance/helm-chart.test.ts',
  // Sockets of clients that send slowly; a page of documentation; npm on a terminal.
  'test/acceptance/slow-clients.test.ts',
  'test/acceptance/api-page.test.ts',
  'test/acceptance/start-on-terminal.test.ts',
  // What is sent to collectors, providers, proxies and Prometheus. Other files have the bills and the search behind it.
  'test/acceptance/telemetry-failures.test.ts',
  'test/acceptance/telemetry-off.test.ts',
  'test/acceptance/reverse-proxies.test.ts',
  'test/acceptance/monitoring-examples.test.ts',
  'test/acceptance/sdk.test.ts',
  'test/acceptance/gateway-sdk-errors.test.ts',
  // What a scripted model may write, and how it is called. space-chat-failures.test.ts has its budgets, holds and bills.
  'test/acceptance/space-chat-misbehaving.test.ts',
  'test/acceptance/space-chat-rewriting.test.ts',
  'test/acceptance/space-chat-streams.test.ts',
  'test/acceptance/space-chat-tools.test.ts',
  'test/acceptance/space-chat-model.test.ts',
  // Which passages a provider's reranker chooses; files in a bucket; signals of npm; faults of the data folder.
  'test/acceptance/reranking.test.ts',
  'test/acceptance/documents-s3.test.ts',
  'test/acceptance/start-stop.test.ts',
  'test/acceptance/start-disk-faults.test.ts',
  // Byte ranges of files, and windows of a text; files of questions.
  'test/acceptance/document-viewer.test.ts',
  'test/acceptance/golden-import.test.ts',
]

/** The test files that run on PostgreSQL too: those whose imports reach the harness that chooses the engine. */
export function databaseTests(): string[] {
  const importers = new Map<string, string[]>()
  const files = readSourceFiles(['src', 'cli', 'bench', 'eval', 'scripts', 'test', 'web'], /(?<!\.d)\.tsx?$/)
  for (const file of files) {
    for (const { to } of readModule(file).imports) importers.set(to, [...(importers.get(to) ?? []), file.path])
  }
  const reached = new Set([harness])
  for (const file of reached) for (const importer of importers.get(file) ?? []) reached.add(importer)
  const tests = [...reached].filter((file) => file.endsWith('.test.ts'))
  const unused = onceOnly.filter((start) => !tests.some((file) => file.startsWith(start)))
  if (tests.length === 0 || unused.length > 0)
    throw new Error(`database-tests.ts names files that do not exist: ${unused.join(', ') || harness}`)
  return tests.filter((file) => !onceOnly.some((start) => file.startsWith(start))).toSorted()
}
