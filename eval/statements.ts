import fs from 'node:fs'
import path from 'node:path'
import { parse } from 'csv-parse/sync'
import { z } from 'zod'
import { readJsonLines } from '../test/harness/shared-data.ts'
import { type CitablePassage, createAnswerCitations } from '../src/chat/chat/citations/answer-citations.ts'
import { splitSentences } from '../src/platform/language/index.ts'
import type { Evaluation, Measure } from './measure.ts'

/**
 * Citations of sentences as models write them, over a Space with several languages and tables: a true sentence keeps its marker; one
 * with a number that no file has, with the number of another row, or that states the opposite loses it. The sentences are written by
 * people and by templates; each is checked as a whole answer, so that a marker may also move to another passage.
 */
export const statements: Evaluation = { title: 'Statements', folder: '.', run }

interface Statement {
  kind: 'true' | 'fabricated' | 'row' | 'negation' | 'computed' | 'miscomputed'
  /** Where it is from. */
  set: string
  text: string
  /** What the model has cited. */
  cited: CitablePassage[]
}

const bounds: Record<Statement['kind'], number> = {
  true: 0.965,
  fabricated: 0.98,
  row: 0.9,
  negation: 0.9,
  computed: 0.6,
  miscomputed: 0.95,
}
/** Of sentences that people wrote in their own words from several passages; they are not free of errors. */
const boundsOfAnswers: Partial<typeof bounds> = { true: 0.955, negation: 0.75 }

async function run(folder: string): Promise<Measure[]> {
  const others = distractors(folder)
  const all = [...tableStatements(folder), ...proseStatements(folder), ...languageStatements(folder), ...sums(folder)]
  const measures: Measure[] = []
  for (const kind of Object.keys(bounds) as Statement['kind'][]) {
    for (const set of new Set(all.filter((one) => one.kind === kind).map((one) => one.set))) {
      const chosen = all.filter((one) => one.kind === kind && one.set === set)
      if (chosen.length === 0) continue
      let met = 0
      for (const statement of chosen) {
        const isKept = await keepsMarker(statement, others)
        if (isKept === (kind === 'true' || kind === 'computed')) met++
      }
      const verb = kind === 'true' || kind === 'computed' ? 'kept' : 'dropped'
      const bound = { atLeast: (set === answers ? boundsOfAnswers[kind] : undefined) ?? bounds[kind] }
      measures.push({
        name: `${kind} sentences ${verb}, ${set}, ${chosen.length}`,
        value: met / chosen.length,
        bound,
        baseline: null,
      })
    }
  }
  return measures
}

async function keepsMarker({ text, cited }: Statement, others: readonly CitablePassage[]): Promise<boolean> {
  const citations = createAnswerCitations({ inline: true })
  citations.addPassages([...cited, ...others])
  const signal = new AbortController().signal
  const markers = cited.map((_, index) => `[${index + 1}]`).join('')
  const sentence = text.trim()
  let output = ''
  for await (const piece of citations.push(`${sentence.replace(/[.。]$/u, '')} ${markers}.`, signal)) output += piece
  output += citations.end()
  return /\[\d+\]/.test(output)
}

const passage = (title: string, text: string, more: Partial<CitablePassage> = {}): CitablePassage => ({
  source: { documentId: `${title} ${text.length}`, title, url: null },
  title,
  headings: [],
  tableHeader: null,
  text,
  ...more,
})

/** Passages in other languages, full of numbers, that a marker might move to. */
function distractors(folder: string): CitablePassage[] {
  return ['de', 'zh', 'vi'].flatMap((language) =>
    readParagraphs(folder, language)
      .filter(({ text }) => (text.match(/\d+/g)?.length ?? 0) > 5)
      .slice(0, 5)
      .map(({ title, text }) => passage(title, text)),
  )
}

const paragraphSchema = z.object({ id: z.string(), title: z.string(), text: z.string() })

function readParagraphs(folder: string, language: string) {
  const file = path.join(folder, 'retrieval', `xquad-${language}`, 'corpus.jsonl')
  if (!fs.existsSync(file)) return []
  return readJsonLines(file).map((row) => paragraphSchema.parse(row))
}

/** The set of sentences that people wrote. */
const answers = 'English answers'

/** A repeatable choice. */
const pick = <Item>(items: readonly Item[], seed: number): Item | undefined => items[(seed * 7919) % items.length]

const templates = [
  (key: string, column: string, value: string) => `The ${column} for ${key} is ${value}.`,
  (key: string, column: string, value: string) => `${key} has ${value} as ${column}.`,
  (key: string, column: string, value: string) => `Für ${key} nennt die Tabelle ${value} (${column}).`,
  (key: string, column: string, value: string) => `Pour ${key}, la valeur de ${column} est ${value}.`,
]
const rowsOfPassage = 25

/** One sentence about a cell of each table, with the value of the row, of another row, and of none. */
function tableStatements(folder: string): Statement[] {
  const place = path.join(folder, 'tables', 'wikitables')
  if (!fs.existsSync(place)) return []
  const listed = readJsonLines<{ file: string; title: string; header: string[] }>(path.join(place, 'tables.jsonl'))
  return listed.flatMap(({ file, title }, index) => {
    const read = parse(fs.readFileSync(path.join(place, file), 'utf8'), { relaxColumnCount: true }) as string[][]
    const [header, ...all] = read.map((cells) => cells.map((cell) => cell.replaceAll(/\s+/g, ' ').trim()))
    if (header === undefined) return []
    const rows = all.slice(0, rowsOfPassage)
    const columns = header.flatMap((name, at) =>
      at > 0 && name !== '' && rows.every((row) => /^\d[\d,.]{0,10}$/.test(row[at] ?? '')) ? [at] : [],
    )
    const column = pick(columns, index)
    const isNamed = (row: string[]) =>
      /^\p{L}[\p{L} '-]{3,40}$/u.test(row[0]!) && rows.filter(([key]) => key!.includes(row[0]!)).length === 1
    const row = pick(rows.filter(isNamed), index + 1)
    if (column === undefined || row === undefined) return []
    const value = row[column]!
    const foreign = rows.filter((other) => !row.includes(other[column]!)).map((other) => other[column]!)
    const cited = [passage(title, [header, ...rows].map((cells) => cells.join(' | ')).join('\n'))]
    const written = templates[index % templates.length]!
    const sentenceWith = (shown: string) => written(row[0]!, header[column]!, shown)
    const other = pick(foreign, index + 2)
    return [
      { kind: 'true' as const, set: 'tables', text: sentenceWith(value), cited },
      { kind: 'fabricated' as const, set: 'tables', text: sentenceWith(alter(value, cited)), cited },
      ...(other === undefined ? [] : [{ kind: 'row' as const, set: 'tables', text: sentenceWith(other), cited }]),
    ]
  })
}

/** The number with another digit, so that no passage has it. */
function alter(number: string, cited: readonly CitablePassage[]): string {
  const digits = number.replaceAll(/\D/g, '')
  for (let add = 3; ; add += 4) {
    const altered = number.replace(/\d+/, (run) => String(Number(run) + add * (digits.length > 3 ? 13 : 1)))
    if (!cited.some(({ text }) => text.includes(altered.replace(/\D.*$/, '')))) return altered
  }
}

const conversationSchema = z.object({
  label: z.string().nullish(),
  answer_reference: z.string(),
  passages: z.array(
    z.object({ title: z.string(), text: z.string(), origin: z.string(), relevant: z.boolean().nullish() }),
  ),
})

/** Sentences of answers that people wrote from passages. */
function proseStatements(folder: string): Statement[] {
  const statements: Statement[] = []
  for (const set of ['mtrag-human', 'mtrag-un']) {
    const file = path.join(folder, 'conversations', set, 'conversations.jsonl')
    if (!fs.existsSync(file)) continue
    for (const row of readJsonLines(file)) {
      const { label, answer_reference: answer, passages } = conversationSchema.parse(row)
      if (label !== 'ANSWERABLE' || answer.length > 1_500) continue
      const cited = passages
        .filter(({ relevant }) => relevant !== false)
        .slice(0, 3)
        .map(({ title, text }) => passage(title, text))
      if (cited.length > 0)
        for (const { text } of splitSentences(answer)) statements.push(...proseStatement(text, cited))
    }
  }
  return statements
}

const auxiliary = /\b(is|are|was|were|can|may|must|should|will|has|have)\b(?! not\b)/

/** The auxiliary belongs to the main clause. */
function isMainClause(text: string): boolean {
  const at = text.search(auxiliary)
  return (
    at !== -1 &&
    at < 80 &&
    !/[,;:]|\b(?:that|which|who|whose|if|when|where|while|as|because|since|and|or)\b/i.test(text.slice(0, at))
  )
}

function proseStatement(text: string, cited: CitablePassage[]): Statement[] {
  if (text.length < 50 || text.length > 400 || text.includes('?') || /\bnot?\b|n['’]t\b|\bnever\b/.test(text)) return []
  const words = new Set(cited.flatMap((one) => one.text.toLowerCase().match(/\p{L}{4,}/gu) ?? []))
  const own = text.toLowerCase().match(/\p{L}{4,}/gu) ?? []
  // Remarks of the writer are not from the passages.
  if (own.filter((word) => words.has(word)).length < own.length * 0.7) return []
  const found: Statement[] = [{ kind: 'true', set: answers, text, cited }]
  const number = /(?<![\d.,])\d[\d,.]*\d|(?<![\d.,])\d(?![\d.,])/.exec(text.replace(/^\W*\d+[.)]/, ''))?.[0]
  if (number !== undefined)
    found.push({ kind: 'fabricated', set: answers, text: text.replace(number, alter(number, cited)), cited })
  if (text.length <= 200 && isMainClause(text))
    found.push({ kind: 'negation', set: answers, text: text.replace(auxiliary, '$1 not'), cited })
  return found
}

const negations: Record<string, [RegExp, string]> = {
  de: [/ (ist|sind|war|waren|kann|können|hat|haben|wurde|wurden) /, ' $1 nicht '],
  zh: [/(?<!不)(是|能|可以|有)/, '不$1'],
  vi: [/ (là|có|được) /, ' không $1 '],
}

/** Sentences of paragraphs in three languages, for their paragraph and for its translation. */
function languageStatements(folder: string): Statement[] {
  const languages = ['de', 'zh', 'vi']
  const paragraphs = new Map(languages.map((language) => [language, readParagraphs(folder, language)]))
  return languages.flatMap((language, order) => {
    const translated = paragraphs.get(languages[(order + 1) % languages.length]!)!
    return paragraphs
      .get(language)!
      .slice(20)
      .filter((_, index) => index % 3 === 0)
      .flatMap(({ id, title, text }, index) => {
        const own = [passage(title, text)]
        const key = id.slice(id.indexOf('-') + 1)
        const foreign = translated
          .filter((other) => other.id.endsWith(`-${key}`))
          .map((other) => passage(other.title, other.text))
        const sentence = pick(
          splitSentences(text)
            .map((one) => one.text)
            .filter((one) => one.length > 25 && one.length < 300),
          index,
        )
        if (sentence === undefined) return []
        const number = /\d[\d,.]*\d|\d/.exec(sentence)?.[0]
        const [sign, negated] = negations[language]!
        const isPositive = !/nicht|kein|不|没|未|无|không|chưa/.test(sentence)
        const set = `language ${language}`
        const across = `language ${language}, cited in another`
        return [
          { kind: 'true' as const, set, text: sentence, cited: own },
          ...(foreign.length === 1 ? [{ kind: 'true' as const, set: across, text: sentence, cited: foreign }] : []),
          ...(number === undefined
            ? []
            : [
                {
                  kind: 'fabricated' as const,
                  set,
                  text: sentence.replace(number, alter(number, [...own, ...foreign])),
                  cited: own,
                },
                ...(foreign.length === 1
                  ? [
                      {
                        kind: 'fabricated' as const,
                        set: across,
                        text: sentence.replace(number, alter(number, [...own, ...foreign])),
                        cited: foreign,
                      },
                    ]
                  : []),
              ]),
          ...(isPositive && sign.test(sentence)
            ? [{ kind: 'negation' as const, set, text: sentence.replace(sign, negated), cited: own }]
            : []),
        ]
      })
  })
}

const contextSchema = z.object({
  rows: z.array(z.array(z.string())),
  paragraphs: z.array(z.string()),
  questions: z.array(z.object({ question: z.string(), answer: z.unknown(), derivation: z.string() })),
})

/** Differences that people computed from two cells. */
function sums(folder: string): Statement[] {
  const file = path.join(folder, 'tables', 'tatqa', 'contexts.jsonl')
  if (!fs.existsSync(file)) return []
  return readJsonLines(file).flatMap((row) => {
    const { rows, questions, paragraphs } = contextSchema.parse(row)
    const cited = [
      passage('report.pdf', [...rows.map((cells) => cells.join(' | ')), ...paragraphs.slice(0, 1)].join('\n')),
    ]
    return questions.flatMap(({ question, answer, derivation }) => {
      const subject = /^What (?:is|was) the (?:change|increase|difference|sum|total)[^?]*/i.exec(question)?.[0]
      if (
        subject === undefined ||
        !/^[\d,.]+ ?[+-] ?[\d,.]+$/.test(derivation) ||
        typeof answer !== 'number' ||
        answer === 0
      )
        return []
      const sentenceWith = (value: number) =>
        `${subject.replace(/^What (?:is|was) the/i, 'The')} is ${Math.abs(value)} in total.`
      return [
        { kind: 'computed' as const, set: 'reports', text: sentenceWith(answer), cited },
        {
          kind: 'miscomputed' as const,
          set: 'reports',
          text: sentenceWith(Number(alter(String(Math.abs(answer)), cited))),
          cited,
        },
      ]
    })
  })
}
