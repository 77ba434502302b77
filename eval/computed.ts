import fs from 'node:fs'
import path from 'node:path'
import { z } from 'zod'
import { readJsonLines } from '../test/harness/shared-data.ts'
import type { CitablePassage } from '../src/chat/chat/citations/citation-rewriter.ts'
import { alter, passage, pick, type Statement } from './statement.ts'
import { readWikiTables } from './wiki-tables.ts'

/**
 * Sentences with a number that is in no passage but can be computed from numbers that are, and the same sentences with a wrong result.
 */
export function computedStatements(folder: string): Statement[] {
  return [...reports(folder), ...tables(folder)]
}

const contextSchema = z.object({
  rows: z.array(z.array(z.string())),
  paragraphs: z.array(z.string()),
  questions: z.array(
    z.object({
      question: z.string(),
      answer: z.unknown(),
      scale: z.string(),
      derivation: z.string(),
      answer_type: z.string(),
    }),
  ),
})

/** What people computed from annual reports. */
function reports(folder: string): Statement[] {
  const file = path.join(folder, 'tables', 'tatqa', 'contexts.jsonl')
  if (!fs.existsSync(file)) return []
  return readJsonLines(file).flatMap((row, index) => {
    const { rows, questions, paragraphs } = contextSchema.parse(row)
    const text = [...rows.map((cells) => cells.join(' | ')), ...paragraphs.slice(0, 1)].join('\n')
    const cited = [passage(`report ${index}.pdf`, text)]
    return questions.flatMap(({ question, answer, scale, derivation, answer_type: type }) => {
      const subject = /^(?:what|how much) (?:is|was|were) (?:the )?([^?]*)\?/i.exec(question)?.[1]
      if (type !== 'arithmetic' || subject === undefined || typeof answer !== 'number' || answer === 0) return []
      const value = String(Math.abs(answer))
      // A quotient that is printed with two digits or fewer can be nearly any number.
      if (value.replace(/\D/g, '').replace(/^0+/, '').length < 2 || text.includes(value)) return []
      const written = `The ${subject.replace(/ ?\/ ?\(decrease\)/, '')} was`
      const unit = scale === 'percent' ? '%' : ''
      return pair(kindOf(derivation, scale), cited, value, (shown) => `${written} ${shown}${unit}.`)
    })
  })
}

function kindOf(derivation: string, scale: string): string {
  const plain = derivation.replaceAll(/[\s$]/g, '')
  if (scale === 'percent' && plain.includes('/')) return 'shares and changes in percent'
  if (/\/[23]$/.test(plain)) return 'averages'
  if (plain.includes('/')) return 'quotients'
  return 'sums and differences'
}

function pair(set: string, cited: CitablePassage[], value: string, written: (shown: string) => string): Statement[] {
  return [
    { kind: 'computed', set, text: written(value), cited },
    ...wrongResults(value, cited).map((shown): Statement => ({
      kind: 'miscomputed',
      set,
      text: written(shown),
      cited,
    })),
  ]
}

/** Errors that models make: another digit, two digits exchanged, a slip of one in the last place but one. */
function wrongResults(value: string, cited: readonly CitablePassage[]): string[] {
  const exchanged = value.replace(/(\d)(\d)(\D?\d*)$/, '$2$1$3')
  const digits = value.replaceAll(/\D/g, '').length
  const slipped = digits > 2 ? value.replace(/\d(?=\d$|\d\D)/, (digit) => String((Number(digit) + 1) % 10)) : value
  return [...new Set([alter(value, cited), exchanged, slipped])].filter(
    (wrong) => wrong !== value && !wrong.startsWith('0') && !cited.some(({ text }) => text.includes(wrong)),
  )
}

const numberOf = (cell: string) => Number(cell.replaceAll(',', ''))
const rounded = (value: number) => String(Number(value.toFixed(1)))

interface Two {
  column: string
  left: string
  right: string
  a: number
  b: number
}

/** How models state what they have computed from two cells of a column. */
const computations: [string, (two: Two) => number | null, ((two: Two, shown: string) => string)[]][] = [
  [
    'sums and differences',
    ({ a, b }) => a + b,
    [
      ({ column, left, right }, shown) => `Together, ${left} and ${right} have a ${column} of ${shown}.`,
      ({ column, left, right }, shown) => `The sum of ${column} for ${left} and ${right} is ${shown}.`,
      ({ column, left, right }, shown) => `${left} und ${right} haben zusammen ${shown} (${column}).`,
      ({ column, left, right }, shown) => `Au total, ${left} et ${right} ont ${shown} (${column}).`,
    ],
  ],
  [
    'sums and differences',
    ({ a, b }) => Math.abs(a - b),
    [
      ({ column, left, right }, shown) => `The ${column} of ${left} and ${right} differs by ${shown}.`,
      ({ column, left, right }, shown) => `There is a gap of ${shown} between ${left} and ${right} in ${column}.`,
      ({ column, left, right, a, b }, shown) =>
        `${left} has ${shown} ${a > b ? 'more' : 'fewer'} ${column} than ${right}.`,
      ({ column, left, right }, shown) => `Der Unterschied zwischen ${left} und ${right} beträgt ${shown} (${column}).`,
    ],
  ],
  [
    'averages',
    ({ a, b }) => (a + b) / 2,
    [
      ({ column, left, right }, shown) => `On average, ${left} and ${right} have a ${column} of ${shown}.`,
      ({ column, left, right }, shown) => `Im Durchschnitt haben ${left} und ${right} ${shown} (${column}).`,
    ],
  ],
  [
    'shares and changes in percent',
    ({ a, b }) => (b > a && a > 0 ? (a / b) * 100 : null),
    [({ column, left, right }, shown) => `The ${column} of ${left} is ${shown}% of that of ${right}.`],
  ],
]
const products: ((two: Two, count: number, shown: string) => string)[] = [
  ({ column, left }, count, shown) => `At the ${column} of ${left}, ${count} of them make ${shown} in total.`,
  ({ column, left }, count, shown) => `${count} times the ${column} of ${left} costs ${shown}.`,
]

/** What can be computed from two cells of each table. */
function tables(folder: string): Statement[] {
  return readWikiTables(folder).flatMap(({ title, index, column, columnName, rows, named, cited }) => {
    const left = pick(named, index + 1)
    const right = pick(
      named.filter((row) => row !== left),
      index + 2,
    )
    if (left === undefined || right === undefined) return []
    const two: Two = {
      column: columnName,
      left: left[0]!,
      right: right[0]!,
      a: numberOf(left[column]!),
      b: numberOf(right[column]!),
    }
    const count = 3 + (index % 6)
    // Nobody adds years.
    const areYears = [two.a, two.b].every((value) => value >= 1_700 && value <= 2_100)
    return [
      ...computations.flatMap(([set, compute, written]) => {
        const value = compute(two)
        if (value === null || (areYears && value > 1_000)) return []
        return statementsOf(`${set}, tables`, cited, value, (shown) => pick(written, index)!(two, shown))
      }),
      ...statementsOf('products, tables', cited, areYears ? 0 : two.a * count, (shown) =>
        pick(products, index)!(two, count, shown),
      ),
      ...statementsOf(
        'counts of rows, tables',
        cited,
        rows.length,
        (shown) => `The table ${title} lists ${shown} entries in total.`,
      ),
    ]
  })
}

function statementsOf(
  set: string,
  cited: CitablePassage[],
  value: number,
  written: (shown: string) => string,
): Statement[] {
  const shown = rounded(value)
  if (!Number.isFinite(value) || value < 10 || cited[0]!.text.includes(shown)) return []
  return pair(set, cited, shown, written)
}
