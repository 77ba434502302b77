import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Figure } from './figures.ts'
import { figureWriter, readFigures, rotated } from './figures.ts'
import { computeRatios, findRegressions, formatRatios, median, type RecordedRatio } from './ratios.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'portico-ratios-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const figure = (subject: string, round: number, value: number, fields: Partial<Figure> = {}): Figure => ({
  case: 'plain',
  round,
  subject,
  reference: subject === 'bare',
  quantity: 'requests/s',
  value,
  better: 'higher',
  ...fields,
})

test('compares values of the same round only and reports min, median and max', () => {
  const bare = [100, 200, 50, 400].map((value, round) => figure('bare', round, value))
  // The second round has no value of the subject, and the last none that can be used.
  const portico = [
    figure('Portico', 0, 50),
    figure('Portico', 2, 10),
    figure('Portico', 3, 300),
    figure('Portico', 4, 9),
  ]
  const [ratio, ...others] = computeRatios('gateway', [...bare, ...portico, figure('Portico', 1, Number.NaN)])
  expect(others).toEqual([])
  expect(ratio).toMatchObject({ bench: 'gateway', subject: 'Portico', reference: 'bare', rounds: 3 })
  expect([ratio!.min, ratio!.median, ratio!.max]).toEqual([0.2, 0.5, 0.75])
  expect([ratio!.value, ratio!.referenceValue]).toEqual([50, 100])
})

test('keeps cases and quantities apart and compares with each reference', () => {
  const figures = [
    figure('bare', 0, 10),
    figure('other', 0, 40, { reference: true }),
    figure('Portico', 0, 20),
    figure('bare', 0, 3, { quantity: 'processor us', better: 'lower' }),
    figure('Portico', 0, 6, { quantity: 'processor us', better: 'lower' }),
    figure('Portico', 0, 5, { case: 'without a reference' }),
  ]
  const ratios = computeRatios('gateway', figures)
  expect(ratios.map(({ reference, quantity, median }) => [reference, quantity, median])).toEqual([
    ['bare', 'requests/s', 2],
    ['other', 'requests/s', 0.5],
    ['bare', 'processor us', 2],
  ])
})

test('drops a round whose reference is not above 0', () => {
  expect(computeRatios('gateway', [figure('bare', 0, 0), figure('Portico', 0, 5)])).toEqual([])
})

test('takes the mean of the middle two of an even number of values', () => {
  expect(median([4, 1, 3, 2])).toBe(2.5)
  expect(median([9, 1, 5])).toBe(5)
})

const recorded = (ratio: number, better: 'higher' | 'lower'): RecordedRatio => ({
  bench: 'gateway',
  case: 'plain',
  subject: 'Portico',
  reference: 'bare',
  quantity: 'requests/s',
  better,
  ratio,
})

test.each([
  // The best of the three rounds decides: 0.4 where more is better, 0.2 where less is.
  ['higher', 0.8, 0],
  ['higher', 0.81, 1],
  ['higher', 0.1, 0],
  ['lower', 0.1, 0],
  ['lower', 0.099, 1],
  ['lower', 5, 0],
] as const)('where %s is better, a recorded ratio of %d fails %d times', (better, ratio, failures) => {
  const figures = [0.3, 0.2, 0.4].flatMap((value, round) => [
    figure('bare', round, 1, { better }),
    figure('Portico', round, value, { better }),
  ])
  const found = findRegressions([recorded(ratio, better)], computeRatios('gateway', figures))
  expect(found).toHaveLength(failures)
})

test('reports a recorded ratio that the run did not measure', () => {
  expect(findRegressions([recorded(1, 'higher')], [])).toEqual([
    'gateway, plain, requests/s: Portico to bare: not measured',
  ])
})

test('prints a table with three significant digits', () => {
  const table = formatRatios(computeRatios('gateway', [figure('bare', 0, 17_234.5), figure('Portico', 0, 1_630.2)]))
  expect(table.split('\n')[2]).toBe(
    '| gateway | plain | Portico | bare | requests/s | 1,630 to 17,200 | 0.0946 | 0.0946 to 0.0946 |',
  )
})

test('gives each subject each place in turn', () => {
  expect([0, 1, 2, 3].map((round) => rotated(['a', 'b', 'c'], round).join(''))).toEqual(['abc', 'bca', 'cab', 'abc'])
})

test('reads the figures that a bench has written', () => {
  const file = path.join(folder, 'figures.jsonl')
  const written = [figure('bare', 0, 1), figure('Portico', 0, 2)]
  for (const each of written) figureWriter(file)(each)
  expect(readFigures(file)).toEqual(written)
  expect(readFigures(path.join(folder, 'none.jsonl'))).toEqual([])
})

test('the run fails on a bad ratio and succeeds on a good one', async () => {
  const [recordedFile, json] = [path.join(folder, 'recorded.json'), path.join(folder, 'run.json')]
  const run = (...args: string[]) =>
    new Promise<{ code: number; output: string }>((resolve) => {
      const all = [path.resolve(import.meta.dirname, '../run.ts'), '--check', '--only', 'relay', '--json', json]
      execFile(process.execPath, [...all, '--recorded', recordedFile, ...args], (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
      )
    })
  const first = await run('--record')
  expect(first).toMatchObject({ code: 0, output: expect.stringContaining('2 ratios were written') })
  const entries = JSON.parse(readFileSync(recordedFile, 'utf8')) as RecordedRatio[]
  expect(entries.map(({ quantity }) => quantity)).toEqual(['processor ms', 'processor ms'])
  const result = JSON.parse(readFileSync(json, 'utf8')) as { figures: { relay: Figure[] }; ratios: unknown[] }
  expect(result.ratios).toHaveLength(4)
  expect(result.figures.relay.length).toBeGreaterThanOrEqual(24)

  const write = (factor: number) =>
    writeFileSync(recordedFile, JSON.stringify(entries.map((entry) => ({ ...entry, ratio: entry.ratio * factor }))))
  write(0.01)
  const bad = await run()
  expect(bad.code).toBe(1)
  expect(bad.output).toMatch(
    /FAILED: relay, 16 KiB a read, processor ms: relayed to split only: \d.* worse than recorded/,
  )
  write(100)
  expect(await run()).toMatchObject({ code: 0, output: expect.stringContaining('2 ratios are in their bounds') })
})
