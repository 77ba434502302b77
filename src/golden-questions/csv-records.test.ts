import { parse } from 'csv-parse/sync'
import { describe, expect, it } from 'vitest'
import { createRandom } from '../../test/harness/random.ts'
import { threadMs } from '../../test/harness/timing.ts'
import { readRecords, type Separator } from './csv-records.ts'

const read = (text: string, separator: Separator = ',') => [...readRecords(text, separator)]

describe('a CSV text', () => {
  it('has records with the line on which each begins', () => {
    expect(read('a,b\r\n"x\r\ny","say ""hi"""\n\n5" pipe,\r,é')).toEqual([
      { line: 1, cells: ['a', 'b'] },
      { line: 2, cells: ['x\r\ny', 'say "hi"'] },
      { line: 5, cells: ['5" pipe', ''] },
      { line: 6, cells: ['', 'é'] },
    ])
  })

  it.each<[Separator, string, string[]]>([
    [';', 'a,b;"c;d";', ['a,b', 'c;d', '']],
    ['\t', 'a;b\t"c\td"', ['a;b', 'c\td']],
  ])('is divided by %j', (separator, text, cells) => {
    expect(read(text, separator)).toEqual([{ line: 1, cells }])
  })

  it.each([
    ['a\n"b\nc', 'Line 2: the quote of a cell is not closed.'],
    ['a\n"b\nc"d', 'Line 3: a quoted cell must end with its quote. Write a quote inside a cell twice.'],
    [',,\n'.padEnd(1_100, ','), 'Line 2: the line must have at most 1000 cells.'],
  ])('that is malformed is refused with its line: %j', (text, message) => {
    expect(() => read(text)).toThrow(message)
  })

  it('that a writer of RFC 4180 made is read as it was', () => {
    const seed = Number(process.env['PORTICO_TEST_SEED'] ?? Date.now() % 1e9)
    const random = createRandom(seed)
    const pieces = ['a', 'é', '"', ',', ';', '\n', '\r\n', ' ', '😀', '']
    const piece = () => pieces[Math.floor(random() * pieces.length)]!
    const quoted = (cell: string) =>
      /[",\r\n]/.test(cell) || random() < 0.3 ? `"${cell.replaceAll('"', '""')}"` : cell
    for (let round = 0; round < 200; round++) {
      const rows = Array.from({ length: 4 }, () => Array.from({ length: 3 }, () => piece() + piece() + piece()))
      const text = rows.map((cells) => cells.map(quoted).join(',')).join('\r\n')
      const read4180 = read(text).map(({ cells }) => cells)
      expect(read4180, `seed ${seed}`).toEqual(rows)
      expect(read4180, `seed ${seed}`).toEqual(parse(text, { record_delimiter: '\r\n' }))
    }
  })

  it.each(['"', '""', ',', 'a', '"a"\n', '\n', '\r\n', '"\n","'])('full of %j takes linear time', (unit) => {
    const time = (units: number) => {
      const text = unit.repeat(units)
      const startMs = threadMs()
      try {
        for (const _ of readRecords(text, ',')) continue
      } catch {
        // A malformed text is refused after it was read.
      }
      return threadMs() - startMs
    }
    time(10_000)
    expect(time(1_000_000)).toBeLessThan(Math.max(15, 10 * time(250_000)))
  })
})
