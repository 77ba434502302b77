import { createRandom } from '../../test/harness/random.ts'

/** A csv file with questions whose answers are cells of it. */
export interface TableFile {
  name: string
  text: string
  questions: { kind: string; question: string; answers: { row: string; column: string; value: string }[] }[]
}

const syllables = [
  'ba',
  'ro',
  'mi',
  'ten',
  'kal',
  'su',
  'ver',
  'dan',
  'lo',
  'fi',
  'gor',
  'pe',
  'zan',
  'hu',
  'wi',
  'tra',
]
const regions = ['Northern Plain', 'Southern Coast', 'Eastern Ridge', 'Western Isles', 'Central Basin', 'High Plateau']
const currencies = ['Crown', 'Thaler', 'Ducat', 'Florin', 'Guilder', 'Mark', 'Peseta', 'Lira', 'Zloty', 'Rial']
const statuses = ['active', 'suspended', 'in review', 'closed', 'planned']

/** Tables of 30, 45 and 60 columns with 240, 300 and 500 rows; the same each time. */
export function generateTables(): TableFile[] {
  return [
    wideTable('provinces.csv', 30, 240, 1),
    wideTable('plants.csv', 45, 300, 2),
    wideTable('stations.csv', 60, 500, 3),
  ]
}

function wideTable(name: string, columns: number, rowCount: number, seed: number): TableFile {
  const random = createRandom(seed)
  const pick = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)]!
  const word = (length: number) => {
    const text = Array.from({ length }, () => pick(syllables)).join('')
    return text[0]!.toUpperCase() + text.slice(1)
  }
  const kind = name.replace(/s?\.csv$/, '')
  const choices: [string, readonly string[]][] = [
    ['Region', regions],
    ['Currency', currencies],
    ['Operating status', statuses],
    ['Main supplier', Array.from({ length: 20 }, () => `${word(2)} Ltd`)],
    ['Inspector', Array.from({ length: 25 }, () => `${word(2)} ${word(3)}`)],
  ]
  const measures = Array.from(
    { length: columns - choices.length - 2 },
    (_, index) => `${word(3)} ${index % 3 ? 'level' : 'rate'}`,
  )
  const names = new Set<string>()
  while (names.size < rowCount) names.add(word(3))
  const rows = Array.from(names, (row) => {
    const cells: Record<string, string> = { [kind]: row, Capital: word(4) }
    for (const [index, column] of measures.entries()) {
      cells[column] = (random() * 1000).toFixed(index % 3)
      const choice = choices[Math.floor((index * choices.length) / measures.length)]!
      cells[choice[0]] ??= pick(choice[1])
    }
    return cells
  })
  const header = Object.keys(rows[0]!)
  const text = [header, ...rows.map((row) => header.map((column) => row[column]!))]
    .map((row) => row.join(','))
    .join('\n')
  return { name, text, questions: questionsOf(rows, kind, choices, random) }
}

function questionsOf(
  rows: Record<string, string>[],
  kind: string,
  choices: [string, readonly string[]][],
  random: () => number,
): TableFile['questions'] {
  const answer = (row: Record<string, string>, column: string) => ({ row: row[kind]!, column, value: row[column]! })
  const header = Object.keys(rows[0]!).filter((column) => column !== kind)
  const questions: TableFile['questions'] = []
  for (const [column, values] of choices) {
    for (const value of values.slice(0, 6)) {
      const answers = rows.filter((row) => row[column] === value).map((row) => answer(row, column))
      if (answers.length > 0)
        questions.push({ kind: 'over a column', question: `Which ${kind} has the ${column} ${value}?`, answers })
    }
  }
  for (const row of rows.slice(0, 60)) {
    const [first, second] = [
      header[Math.floor(random() * header.length)]!,
      header[Math.floor(random() * header.length)]!,
    ]
    const one = `What is the ${first} of ${row[kind]}?`
    questions.push({ kind: 'one cell of a row', question: one, answers: [answer(row, first)] })
    const two = `${first} and ${second} of ${row[kind]}`
    questions.push({ kind: 'two cells of a row', question: two, answers: [answer(row, first), answer(row, second)] })
  }
  return questions
}
