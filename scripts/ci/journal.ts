import { readFileSync } from 'node:fs'

/**
 * What a run of vitest writes while it works, one JSON value per line: CI counts the tests of a run that hangs or is killed too, and
 * names the files that were running then.
 */
export type JournalLine =
  | { kind: 'run'; files: string[] }
  | { kind: 'file'; file: string }
  | {
      kind: 'result'
      file: string
      milliseconds: number
      passed: number
      failed: FailedTest[]
      skipped: number
      /** False where the file failed outside its tests, for example in an import or in a hook. */
      isSound: boolean
    }
  | { kind: 'end'; errorsOutsideTests: number }

export interface FailedTest {
  title: string
  /** The beginning of the error's message, in one line. */
  reason: string
}

export interface LegSummary {
  passed: number
  failed: number
  skipped: number
  /** Why tests failed or are missing, one line each. */
  faults: string[]
  /** The longest first. */
  files: { file: string; milliseconds: number }[]
}

/** The lines of a journal; a last line that was being written when the run was killed is left out. */
export function parseJournal(text: string): JournalLine[] {
  const complete = text.slice(0, text.lastIndexOf('\n') + 1)
  return complete
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JournalLine)
}

/** A file that does not exist is an empty journal: the run did not start. */
export function readJournal(file: string): JournalLine[] {
  try {
    return parseJournal(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

/**
 * Sums a journal. Failures are: failed tests; files that failed outside their tests, were running at the end, or were never started;
 * errors outside of files; and an exit status other than 0 that nothing else explains.
 */
export function summarise(lines: readonly JournalLine[], exitStatus: number): LegSummary {
  const results = lines.filter((line) => line.kind === 'result')
  const finished = new Set(results.map(({ file }) => file))
  const started = new Set(lines.flatMap((line) => (line.kind === 'file' ? [line.file] : [])))
  const planned = lines.flatMap((line) => (line.kind === 'run' ? line.files : []))
  const ended = lines.find((line) => line.kind === 'end')
  const waiting = planned.filter((file) => !started.has(file) && !finished.has(file))
  const faults = [
    ...results.flatMap(({ file, failed }) => failed.map(({ title, reason }) => `${file}: ${title}: ${reason}`)),
    ...results
      .filter(({ isSound, failed }) => !isSound && failed.length === 0)
      .map(({ file }) => `${file}: failed outside its tests`),
    ...[...started].filter((file) => !finished.has(file)).map((file) => `${file}: was running when the run ended`),
    ...waiting.map((file) => `${file}: did not run`),
  ]
  if (ended && ended.errorsOutsideTests > 0) faults.push(`${ended.errorsOutsideTests} errors outside of tests`)
  if (planned.length === 0) faults.push('no test file ran')
  if (faults.length === 0 && (exitStatus !== 0 || !ended)) faults.push(`the run ended with ${exitStatus}`)
  return {
    passed: sum(results.map(({ passed }) => passed)),
    failed: faults.length,
    skipped: sum(results.map(({ skipped }) => skipped)),
    faults,
    files: results
      .map(({ file, milliseconds }) => ({ file, milliseconds }))
      .toSorted((left, right) => right.milliseconds - left.milliseconds),
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
