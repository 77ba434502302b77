import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** What the test files of the last `npm test` on this machine took, for `npm run check:tests`. */
export interface TestTimes {
  /** Milliseconds of the fixed computation of test/harness/fixed-computation.ts: the median of the run. */
  referenceMs: number
  files: { file: string; seconds: number }[]
}

const root = path.resolve(import.meta.dirname, '../..')
const file = path.join(root, 'node_modules/.cache/portico/test-times.json')

/** Stores what test/harness/fixed-computation.ts wrote: lines `SECONDS REFERENCE FILE`. */
export function writeTestTimes(lines: string): void {
  if (!existsSync(lines)) return
  const rows = Array.from(
    readFileSync(lines, 'utf8').matchAll(/^(\S+) (\S+) (.+)$/gm),
    ([, seconds, reference, name]) => ({
      seconds: Number(seconds),
      reference: Number(reference),
      file: path.relative(root, name!),
    }),
  )
  const references = rows.map(({ reference }) => reference).toSorted((left, right) => left - right)
  const times: TestTimes = {
    referenceMs: references[Math.floor(references.length / 2)]!,
    files: rows.map(({ seconds, file: name }) => ({ file: name, seconds })),
  }
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, JSON.stringify(times))
}

/** Undefined if `npm test` has not run here. */
export function readTestTimes(): TestTimes | undefined {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}
