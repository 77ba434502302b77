import fs from 'node:fs'
import path from 'node:path'
import { z } from 'zod'
import { readJsonLines } from '../test/harness/shared-data.ts'
import { type CitablePassage, createAnswerCitations } from '../src/chat/chat/citations/citation-rewriter.ts'
import { splitSentences } from '../src/platform/language/index.ts'
import { computedStatements } from './computed.ts'
import { affirm, denials } from './denials.ts'
import { articleOf, type Half, inHalf } from './half.ts'
import type { Evaluation, Measure } from './measure.ts'
import { alter, passage, pick, type Statement } from './statement.ts'
import { readWikiTables } from './wiki-tables.ts'

/**
 * Citations of sentences as models write them, over a Space with several languages and tables: a true sentence keeps its marker; one
 * with a number that no file has, with the number of another row, or that states the opposite loses it. The sentences are written by
 * people and by templates; each is checked as a whole answer, so that a marker may also move to another passage.
 */
export const statements: Evaluation = { title: 'Statements', folder: '.', run }

const bounds: Record<Statement['kind'], number> = {
  true: 0.965,
  fabricated: 0.98,
  row: 0.9,
  negation: 0.9,
  computed: 0.8,
  miscomputed: 0.98,
}
/** Of sentences that people wrote in their own words from several passages; they are not free of errors. */
const boundsOfAnswers: Partial<typeof bounds> = { true: 0.955, negation: 0.9 }
/** Of few sentences, or of those that the check does not know well. */
const boundsOfSets: Record<string, number> = {
  quotients: 0.4,
  'English answers that deny': 0.9,
  'English answers: opposites': 0.83,
  'English answers: denial left out': 0.6,
  'English answers: does not, fails to': 0.75,
  'English answers: no, none of': 0.7,
  'English answers: nobody, nothing': 0.88,
  'English Wikipedia: opposites': 0.94,
  'English Wikipedia: no, none of': 0.7,
}

async function run(folder: string, half: Half | undefined): Promise<Measure[]> {
  const others = distractors(folder)
  // Half of the collections have no titles: by its text each document is in one half.
  const all = allStatements(folder).filter(({ cited, document }) =>
    inHalf(document ?? (cited[0]!.title || cited[0]!.text), half),
  )
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
      const bound = {
        atLeast:
          boundsOfSets[set] ??
          (set.startsWith(answers) || set.startsWith(wikipedia) ? boundsOfAnswers[kind] : undefined) ??
          bounds[kind],
      }
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

/** Exported to look at single ones. */
export function allStatements(folder: string): Statement[] {
  return [
    ...tableStatements(folder),
    ...proseStatements(folder),
    ...wikipediaStatements(folder),
    ...languageStatements(folder),
    ...computedStatements(folder),
  ]
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

/** The sets of sentences that people wrote. */
const answers = 'English answers'
const wikipedia = 'English Wikipedia'

const templates = [
  (key: string, column: string, value: string) => `The ${column} for ${key} is ${value}.`,
  (key: string, column: string, value: string) => `${key} has ${value} as ${column}.`,
  (key: string, column: string, value: string) => `Für ${key} nennt die Tabelle ${value} (${column}).`,
  (key: string, column: string, value: string) => `Pour ${key}, la valeur de ${column} est ${value}.`,
]

/** One sentence about a cell of each table, with the value of the row, of another row, and of none. */
function tableStatements(folder: string): Statement[] {
  return readWikiTables(folder).flatMap(({ index, column, columnName, rows, named, cited }) => {
    const row = pick(named, index + 1)
    if (row === undefined) return []
    const value = row[column]!
    const foreign = rows.filter((other) => !row.includes(other[column]!)).map((other) => other[column]!)
    const written = templates[index % templates.length]!
    const sentenceWith = (shown: string) => written(row[0]!, columnName, shown)
    const other = pick(foreign, index + 2)
    return [
      { kind: 'true' as const, set: 'tables', text: sentenceWith(value), cited },
      { kind: 'fabricated' as const, set: 'tables', text: sentenceWith(alter(value, cited)), cited },
      ...(other === undefined ? [] : [{ kind: 'row' as const, set: 'tables', text: sentenceWith(other), cited }]),
    ]
  })
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
        for (const { text } of splitSentences(answer)) statements.push(...proseStatement(text, cited, answers))
    }
  }
  return statements
}

const citedSchema = z.object({
  sentence: z.string(),
  passage_supporting: z.object({ title: z.string(), text: z.string() }),
})

/** Sentences of answers that people wrote from one passage. */
function wikipediaStatements(folder: string): Statement[] {
  const file = path.join(folder, 'citations', 'clapnq.jsonl')
  if (!fs.existsSync(file)) return []
  return readJsonLines(file).flatMap((row) => {
    const { sentence, passage_supporting: given } = citedSchema.parse(row)
    return proseStatement(sentence, [passage(given.title, given.text)], wikipedia).filter(
      ({ kind }) => kind === 'negation',
    )
  })
}

function proseStatement(text: string, cited: CitablePassage[], set: string): Statement[] {
  if (text.length < 50 || text.length > 400 || text.includes('?')) return []
  const words = new Set(cited.flatMap((one) => one.text.toLowerCase().match(/\p{L}{4,}/gu) ?? []))
  const own = text.toLowerCase().match(/\p{L}{4,}/gu) ?? []
  // Remarks of the writer are not from the passages.
  if (own.filter((word) => words.has(word)).length < own.length * 0.7) return []
  if (/\bnot?\b|n['’]t\b|\bnever\b|\bcannot\b|\bnone\b/i.test(text)) return denyingStatement(text, cited, set)
  const found: Statement[] = [{ kind: 'true', set, text, cited }]
  const number = /(?<![\d.,])\d[\d,.]*\d|(?<![\d.,])\d(?![\d.,])/.exec(text.replace(/^\W*\d+[.)]/, ''))?.[0]
  if (number !== undefined)
    found.push({ kind: 'fabricated', set, text: text.replace(number, alter(number, cited)), cited })
  if (text.length <= 200)
    for (const { name, text: denied } of denials(text))
      found.push({ kind: 'negation', set: `${set}: ${name}`, text: denied, cited })
  return found
}

/** A sentence that denies something, and what it denies. */
function denyingStatement(text: string, cited: CitablePassage[], set: string): Statement[] {
  const affirmed = affirm(text)
  return [
    { kind: 'true', set: `${set} that deny`, text, cited },
    ...(affirmed === null
      ? []
      : [{ kind: 'negation' as const, set: `${set}: denial left out`, text: affirmed, cited }]),
  ]
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
        const found: Statement[] = [
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
        return found.map((one) => ({ ...one, document: articleOf(id) }))
      })
  })
}
