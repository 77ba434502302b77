/**
 * Replays recorded provider answers and says which differ from what they must come out as.
 *
 *   npm run conformance                      the shared recordings; writes docs/conformance.md
 *   npm run conformance -- --data FOLDER     any folder with index.json or wire/index.json; writes nothing
 *   npm run conformance -- --check           the shared recordings; fails where docs/conformance.md is out of date
 *
 * The last line is `N passed, N failed`; the exit code is 1 where one failed.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { sharedDataFolder } from '../test/harness/shared-data.ts'
import { type RecordResult, renderConformancePage } from '../test/upstream/conformance-report.ts'
import { replayRecord } from '../test/upstream/replay-record.ts'
import { startUpstream } from '../test/upstream/upstream.ts'
import { readWireIndex } from '../test/upstream/wire-index.ts'

const page = path.join(import.meta.dirname, '../docs/conformance.md')

const { values: options } = parseArgs({
  options: { data: { type: 'string' }, write: { type: 'boolean' }, check: { type: 'boolean' } },
})
process.exitCode = await run()

async function run(): Promise<number> {
  const folder = options.data === undefined ? sharedDataFolder('wire') : path.resolve(options.data)
  if (folder === undefined) {
    console.error('The shared recordings are not here; name a folder with --data FOLDER or PORTICO_SHARED_DATA.')
    return 1
  }
  const results = await replayFolder(folder)
  for (const { record, differences } of results) {
    for (const line of differences) console.log(`${record.id}: ${line}`)
  }
  const text = renderConformancePage(results)
  let outdated = false
  if (options.check) {
    outdated = readFileSync(page, 'utf8') !== text
    if (outdated) console.log('docs/conformance.md is out of date: run npm run conformance')
  } else if (options.data === undefined || options.write) writeFileSync(page, text)
  const failed = results.filter(({ differences }) => differences.length > 0).length
  console.log(`${results.length - failed} passed, ${failed} failed`)
  return failed > 0 || outdated ? 1 : 0
}

async function replayFolder(folder: string): Promise<RecordResult[]> {
  const index = readWireIndex(folder)
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
