import { findPageFaults } from './checks/pages.ts'
import { readSourceFiles } from './checks/source-files.ts'

/** Breaks when a page of docs/ has too many lines or a line that is too wide. */

const faults = findPageFaults(readSourceFiles(['docs'], /\.md$/))
for (const { path, line, reason } of faults) console.error(`${path}:${line}: ${reason}`)
if (faults.length > 0) {
  console.error(`${faults.length} faults of pages; scripts/checks/pages.ts has the bounds.`)
  process.exitCode = 1
} else console.log('pages: nothing is too long or too wide')
