import { expect, test } from 'vitest'
import { type JournalLine, parseJournal, summarise } from './journal.ts'

const passedFile: JournalLine = {
  kind: 'result',
  file: 'a.test.ts',
  milliseconds: 1200,
  passed: 3,
  failed: [],
  skipped: 1,
  isSound: true,
}
const start: JournalLine[] = [
  { kind: 'run', files: ['a.test.ts', 'b.test.ts'] },
  { kind: 'file', file: 'a.test.ts' },
  { kind: 'file', file: 'b.test.ts' },
]
const end: JournalLine = { kind: 'end', errorsOutsideTests: 0 }

test('a run in which all files passed has no failure', () => {
  const lines = [...start, passedFile, { ...passedFile, file: 'b.test.ts', milliseconds: 4000 }, end]
  expect(summarise(lines, 0)).toEqual({
    passed: 6,
    failed: 0,
    skipped: 2,
    faults: [],
    files: [
      { file: 'b.test.ts', milliseconds: 4000 },
      { file: 'a.test.ts', milliseconds: 1200 },
    ],
  })
})

test('failed tests, and files that fail outside their tests, count one each', () => {
  const one = { title: 'one', reason: 'expected 1 to be 2' }
  const two = { title: 'two', reason: 'Test timed out' }
  const failed: JournalLine = { ...passedFile, failed: [one, two], isSound: false }
  const broken: JournalLine = { ...passedFile, file: 'b.test.ts', passed: 0, isSound: false }
  expect(summarise([...start, failed, broken, end], 1)).toMatchObject({
    passed: 3,
    failed: 3,
    faults: [
      'a.test.ts: one: expected 1 to be 2',
      'a.test.ts: two: Test timed out',
      'b.test.ts: failed outside its tests',
    ],
  })
})

test('a run that was killed keeps its counts and names the files that ran and those that did not', () => {
  const planned: JournalLine = { kind: 'run', files: ['a.test.ts', 'b.test.ts', 'c.test.ts'] }
  expect(summarise([planned, ...start.slice(1), passedFile], 137)).toMatchObject({
    passed: 3,
    failed: 2,
    faults: ['b.test.ts: was running when the run ended', 'c.test.ts: did not run'],
  })
})

test('a run that did not start, did not end, or ended with another status is a failure', () => {
  const whole = [...start, passedFile, { ...passedFile, file: 'b.test.ts' }]
  expect(summarise([], 1)).toMatchObject({ passed: 0, failed: 1, faults: ['no test file ran'] })
  expect(summarise(whole, 137)).toMatchObject({ passed: 6, failed: 1, faults: ['the run ended with 137'] })
  expect(summarise([...whole, end], 1)).toMatchObject({ passed: 6, failed: 1, faults: ['the run ended with 1'] })
  expect(summarise([...whole, { kind: 'end', errorsOutsideTests: 2 }], 1)).toMatchObject({
    failed: 1,
    faults: ['2 errors outside of tests'],
  })
})

test('a line that was cut off when the run was killed is left out', () => {
  const text = `${JSON.stringify(start[0])}\n${JSON.stringify(passedFile)}\n{"kind":"resu`
  expect(parseJournal(text)).toEqual([start[0], passedFile])
})
