import { createGoldenQuestionSchema, goldenLimits, type NewGoldenQuestion } from '../../contract/golden-questions.ts'
import { type FieldProblem, readFields, sentence } from '../../contract/validation.ts'
import type { BodyReader } from '../../platform/bodies/index.ts'
import { AppError, assertStorableTexts, isAppError, isObject } from '../../platform/kernel/index.ts'
import { columnNames, readCsvQuestions } from './read-csv-questions.ts'

/** A question of an import, or why it breaks a rule that needs no database. */
export interface ImportEntry {
  /** The line of a CSV file on which it begins; null in JSON. */
  line: number | null
  /** The beginning of its text, as far as there is one. */
  beginning: string | null
  read: { question: NewGoldenQuestion } | { problem: FieldProblem }
}

export interface ImportFile {
  entries: ImportEntry[]
}

/** Of a question in a list of problems, UTF-16 units. */
const beginningCharacters = 200
/** Twice what 500 questions with the most messages, documents and facts have. */
const maximumValues = 200_000

/** Reads the body of an import: `{"questions": [...]}` or CSV. */
export const importBody: BodyReader<ImportFile> = {
  module: import.meta.url,
  exportName: 'importBody',
  shape: {},
  maximumValues,
  read: (value) => ({
    entries: readQuestions(value).map((given) => readEntry(null, { question: given })),
  }),
  readCsv: (text) => ({
    entries: readCsvQuestions(text).map(({ line, read }) => readEntry(line, read)),
  }),
}

/** Throws `invalid_request` for another shape, and for too many. */
function readQuestions(value: unknown): unknown[] {
  const { questions, ...others } = isObject(value) ? value : {}
  const [other] = Object.keys(others)
  if (other !== undefined) throw refuse('', 'The request body', `has the unknown field \`${other.slice(0, 60)}\``)
  if (!Array.isArray(questions)) throw refuse('questions', '`questions`', 'must be an array')
  const maximum = goldenLimits.questionsPerSpace
  if (questions.length > maximum) throw refuse('questions', '`questions`', `must have at most ${maximum} entries`)
  return questions
}

function refuse(param: string, field: string, words: string): AppError {
  return new AppError('invalid_request', sentence(field, words), param === '' ? {} : { param })
}

function readEntry(line: number | null, given: { question: unknown } | { problem: FieldProblem }): ImportEntry {
  if ('problem' in given) return { line, beginning: null, read: given }
  const question = cutLists(given.question)
  const read = readFields(createGoldenQuestionSchema, question)
  return {
    line,
    beginning: beginningOf(question),
    read: 'problem' in read ? read : (findUnstorable(read.value) ?? { question: read.value }),
  }
}

const lists = ['messages', 'expectedDocuments', 'expectedFacts'] as const

/** Leaves one entry too many in a list that is too long, so that validation is short and still fails. */
function cutLists(question: unknown): unknown {
  if (!isObject(question)) return question
  const cut = { ...question }
  for (const name of lists) {
    const list = question[name]
    if (Array.isArray(list)) cut[name] = list.slice(0, goldenLimits[name] + 1)
  }
  return cut
}

function findUnstorable(question: NewGoldenQuestion): { problem: FieldProblem } | undefined {
  try {
    assertStorableTexts(question)
    return undefined
  } catch (error) {
    if (!isAppError(error)) throw error
    return { problem: { param: error.param ?? '', words: 'must be Unicode text without the character U+0000' } }
  }
}

function beginningOf(question: unknown): string | null {
  const messages = isObject(question) ? question['messages'] : undefined
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined
  const content = isObject(last) ? last['content'] : undefined
  return typeof content === 'string' ? content.slice(0, beginningCharacters).toWellFormed() : null
}

/**
 * A sentence for the report of an import, one that also names the place in the file, and the field for programs. `index`: of the question
 * in the file.
 */
export function describeProblem({ line }: Pick<ImportEntry, 'line'>, index: number, { param, words }: FieldProblem) {
  const path = param === '' ? `questions.${index}` : `questions.${index}.${param}`
  const [field, place] =
    line === null
      ? [param === '' ? 'The question' : `\`${param}\``, `\`${path}\``]
      : param === ''
        ? ['The row', `Line ${line}`]
        : [columnOf(param), `Line ${line}: ${columnOf(param)}`]
  const message = sentence(field, words)
  return { message: message[0]!.toUpperCase() + message.slice(1), placed: sentence(place, words), param: path }
}

/** `entry 3 of \`expected facts\`` for `expectedFacts.2`. */
function columnOf(param: string): string {
  const [field = '', index] = param.split('.')
  if (field === 'messages') return `\`${columnNames.question}\``
  const column = `\`${Object.hasOwn(columnNames, field) ? columnNames[field as keyof typeof columnNames] : field}\``
  return index === undefined ? column : `entry ${Number(index) + 1} of ${column}`
}
