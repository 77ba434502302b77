/**
 * Replays recorded provider answers and prints the differences from their expectations. Compares their requests, and a table of calls,
 * with those of the AI SDK.
 *
 *   npm run conformance                      the shared recordings and the table; writes docs/reference/conformance.md
 *   npm run conformance -- --data FOLDER     any folder with index.json or wire/index.json, alone; writes nothing
 *   npm run conformance -- --check           as without options; fails if docs/reference/conformance.md is out of date
 *   npm run conformance -- --suggest         also prints entries for test/upstream/requests/known-differences.ts
 *
 * The last line is `N passed, N failed`; the exit code is 1 if one failed. Requests with fields that Portico does not offer are
 * compared in part and counted on the line before.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { sharedDataFolder } from '../test/harness/shared-data.ts'
import { type RecordResult, renderConformancePage } from '../test/upstream/conformance-report.ts'
import { replayRecord } from '../test/upstream/replay-record.ts'
import {
  checkOwnRequests,
  checkRecordedRequests,
  problemsOf,
  type RequestResults,
  staleEntries,
} from '../test/upstream/requests/check-requests.ts'
import { outcomeOf } from '../test/upstream/requests/requests-report.ts'
import { suggestEntries } from '../test/upstream/requests/suggest-entries.ts'
import { startUpstream } from '../test/upstream/upstream.ts'
import { readWireIndex, type WireIndex } from '../test/upstream/wire-index.ts'

const page = path.join(import.meta.dirname, '../docs/reference/conformance.md')

const { values: options } = parseArgs({
  options: {
    data: { type: 'string' },
    write: { type: 'boolean' },
    check: { type: 'boolean' },
    suggest: { type: 'boolean' },
  },
})
process.exitCode = await run()

async function run(): Promise<number> {
  const folder = options.data === undefined ? sharedDataFolder('wire') : path.resolve(options.data)
  if (folder === undefined) {
    console.error('The shared recordings are missing; set a folder with --data FOLDER or PORTICO_SHARED_DATA.')
    return 1
  }
  const index = readWireIndex(folder)
  const results = await replayFolder(index)
  const own = options.data === undefined ? await checkOwnRequests() : { table: [], written: [] }
  const requests: RequestResults = { recorded: await checkRecordedRequests(index), ...own }
  const checked = [...requests.recorded, ...requests.table, ...requests.written]
  for (const { record, differences } of results) {
    for (const line of differences) console.log(`${record.id}: ${line}`)
  }
  for (const result of checked) for (const line of problemsOf(result)) console.log(`${result.id}: ${line}`)
  // Other folders need not contain every difference.
  const stale = options.data === undefined ? staleEntries(requests) : []
  for (const { paths, reason } of stale) console.log(`known difference no longer seen: ${paths.join(', ')}: ${reason}`)
  if (options.suggest) for (const entry of suggestEntries(checked)) console.log(entry)
  const text = renderConformancePage(results, requests)
  let outdated = false
  if (options.check) {
    outdated = readFileSync(page, 'utf8') !== text
    if (outdated) console.log('docs/reference/conformance.md is out of date: run npm run conformance')
  } else if (options.data === undefined || options.write) writeFileSync(page, text)
  const outcomes = checked.map(outcomeOf)
  const inPart = outcomes.filter((outcome) => outcome === 'in part').length
  const failedAnswers = results.filter(({ differences }) => differences.length > 0).length
  const failed = failedAnswers + outcomes.filter((outcome) => outcome === 'failed').length + stale.length
  const passed = results.length - failedAnswers + outcomes.filter((outcome) => outcome === 'passed').length
  if (inPart > 0)
    console.log(`${inPart} requests in part: they have fields that Portico does not offer; the rest is as expected`)
  console.log(`${passed} passed, ${failed} failed`)
  return failed > 0 || outdated ? 1 : 0
}

async function replayFolder(index: WireIndex): Promise<RecordResult[]> {
  const upstream = await startUpstream()
  try {
    const results: RecordResult[] = []
    for (const record of index.records) {
      try {
        results.push({ record, differences: await replayRecord(record, index.bodyOf(record), upstream) })
      } catch (error) {
        results.push({ record, differences: [`failed: ${String(error)}`] })
      }
    }
    return results
  } finally {
    await upstream.close()
  }
}
