import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../test/harness/random.ts'
import { expectLinear } from '../../../test/harness/timing.ts'
import { readRecords, type Separator } from './read-csv-questions.ts'
import { testSeed } from '../../../test/harness/seed.ts'

const read = (text: string, separator: Separator = ',') => readRecords(text, separator)

describe('a CSV text', () => {
  it('has records with the line on which each begins', () => {
    expect(read('a,b\r\n"x\r\ny","say ""hi"""\n\n5" pipe,\r,é')).toEqual([
      { line: 1, cells: ['a', 'b'] },
      { line: 2, cells: ['x\ny', 'say "hi"'] },
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

  it('with a quote that is not closed is refused with the line before it', () => {
    expect(() => read('a\n"b\nc')).toThrow('After line 1: the quote of a cell is not closed.')
  })

  it.each([
    [',', 10_000_001, 'The file must have at most 10000000 separators.'],
    [',\n', 10_001, 'The file must have at most 10000 rows.'],
  ])('of too many %j is refused', (unit, units, message) => {
    expect(() => read(unit.repeat(units))).toThrow(message)
  })

  it('that a writer of RFC 4180 made is read as it was', () => {
    const seed = testSeed
    const random = createRandom(seed)
    const pieces = ['a', 'é', '"', ',', ';', '\n', '\r\n', ' ', '😀', '']
    const piece = () => pieces[Math.floor(random() * pieces.length)]!
    const quoted = (cell: string) =>
      /[",\r\n]/.test(cell) || random() < 0.3 ? `"${cell.replaceAll('"', '""')}"` : cell
    for (let round = 0; round < 200; round++) {
      const rows = Array.from({ length: 4 }, () => Array.from({ length: 3 }, () => piece() + piece() + piece()))
      const text = rows.map((cells) => cells.map(quoted).join(',')).join('\r\n')
      const written = rows.map((cells) => cells.map((cell) => cell.replaceAll('\r\n', '\n')))
      expect(
        read(text).map(({ cells }) => cells),
        `seed ${seed}`,
      ).toEqual(written)
    }
  })

  it.each(['"', '""', ',', 'a', '"a"\n', '\n', '\r\n', '"\n","'])('full of %j takes linear time', async (unit) => {
    const readUnits = (units: number) => {
      try {
        read(unit.repeat(units))
      } catch {
        // A text of too many records is refused while it is read.
      }
    }
    await expectLinear(readUnits, 100_000)
  })
})
