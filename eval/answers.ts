/**
 * How good the answers of a Space are: queries from conversations, passages, citations, abstention, tables, and instructions hidden in files.
 *
 *   npm run eval:answers [-- --data FOLDER] [--only TITLE] [--half fitting|held-out]
 *
 * FOLDER holds `conversations`, `answerability`, `citations`, `tables`, `injection` and `retrieval` in the format of the shared data.
 * Prints each measure with its bound and with a baseline of the same run. The last line is `N passed, N failed`: a measure passes
 * when it meets its bound. Needs no model and no network.
 */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { sharedDataFolder } from '../test/harness/shared-data.ts'
import type { Half } from './half.ts'
import { evaluations } from './evaluations.ts'
import { formatMeasure, isMet, type Measure } from './measure.ts'

const { values: options } = parseArgs({
  options: { data: { type: 'string' }, only: { type: 'string' }, half: { type: 'string' } },
})
const halves: Half[] = ['fitting', 'held-out']
const half = halves.find((one) => one === options.half)
if (options.half !== undefined && half === undefined) {
  console.error('--half is `fitting` or `held-out`.')
  process.exit(2)
}
const data = options.data ?? sharedDataFolder()
if (data === undefined || !existsSync(data)) {
  console.error('There is no folder of evaluation data. Name it with --data FOLDER or PORTICO_SHARED_DATA.')
  process.exit(2)
}
const measures: Measure[] = []
for (const { title, folder, run } of evaluations) {
  if (options.only !== undefined && title !== options.only) continue
  const place = path.join(data, folder)
  console.log(`\n${title}`)
  if (!existsSync(place)) {
    console.log(`  skipped: ${place} is missing`)
    continue
  }
  for (const measure of await run(place, half)) {
    measures.push(measure)
    console.log(`  ${formatMeasure(measure)}`)
  }
}
const passed = measures.filter(isMet).length
console.log(`\n${passed} passed, ${measures.length - passed} failed`)
process.exitCode = passed === measures.length && passed > 0 ? 0 : 1
