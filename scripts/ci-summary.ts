import { readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { readJournal, summarise } from './ci/journal.ts'

/**
 * For .ci/run. `leg FOLDER NAME STATUS` prints the sum of the journal FOLDER/NAME.jsonl of a leg that ended with STATUS, and writes
 * `PASSED FAILED` to FOLDER/NAME.result and what failed to FOLDER/NAME.faults. `slowest FOLDER` prints the forty files of all journals that
 * took longest.
 */
const [command, folder = '.', name = '', status = '1'] = process.argv.slice(2)
const print = (line: string) => process.stdout.write(`${line}\n`)

if (command === 'leg') {
  const summary = summarise(readJournal(path.join(folder, `${name}.jsonl`)), Number(status))
  const notes = summary.faults.map((fault) => `${name}: FAILED: ${fault}\n`).join('')
  process.stdout.write(notes)
  writeFileSync(path.join(folder, `${name}.faults`), notes)
  print(`${name}: ${summary.passed} passed, ${summary.failed} failed, ${summary.skipped} skipped`)
  writeFileSync(path.join(folder, `${name}.result`), `${summary.passed} ${summary.failed}\n`)
} else if (command === 'slowest') {
  const legs = readdirSync(folder).filter((file) => file.endsWith('.jsonl'))
  const files = legs.flatMap((leg) =>
    summarise(readJournal(path.join(folder, leg)), 0).files.map((file) => ({ leg: path.parse(leg).name, ...file })),
  )
  const slowest = files.toSorted((left, right) => right.milliseconds - left.milliseconds).slice(0, 40)
  for (const { leg, file, milliseconds } of slowest)
    print(`${String(Math.round(milliseconds / 1000)).padStart(5)} s  ${leg.padEnd(16)} ${file}`)
} else {
  print('usage: ci-summary.ts leg FOLDER NAME STATUS | slowest FOLDER')
  process.exitCode = 2
}
