import { createTimeSlices } from '../kernel/index.ts'
import { type Language, loadNearWords, splitSentences } from '../language/index.ts'
import {
  type AnswerForm,
  type AnswerType,
  answerTypeOf,
  askedForms,
  hasCandidate,
  statedForms,
} from './expected-answer.ts'
import { hasStop, isListItem, joinWrappedLines, splitTables, type TableRow } from './segments.ts'
import { comparedWords, latinLanguageOf, type Related, relatedForms, topicWords, weightOfForm } from './words.ts'

/** Longest quoted sentence, UTF-16 units; a table or list without full stops is one sentence. */
const maximumSentenceUnits = 400

export interface ReadQuestion {
  text: string
  language: Language
  type: AnswerType
  /** Details that it asks for. */
  forms: readonly AnswerForm[]
  /** Compared words that carry a topic, with their weight before rarity. */
  words: ReadonlyMap<string, number>
  /** For each form with the same meaning as some of them: those. */
  related: ReadonlyMap<string, readonly Related[]>
}

/** What a text has of the words of a question. */
export interface Matched {
  /** The wanted words in it. */
  words: ReadonlySet<string>
  /** The wanted words that it has only as another word of that meaning, or nearly, with the strength of the nearest, 0..1. */
  related: ReadonlyMap<string, number>
}

export interface ReadSentence extends Matched {
  text: string
  /** Its place in the passage's sentences. */
  index: number
  /** Whether it begins a line, and whether it ends one. */
  beginsLine: boolean
  endsLine: boolean
  /** All its words. */
  length: number
  /** Share of the question's pieces that it has, 0..1. */
  pieceShare: number
  /** Whether it has words of the expected kind; null where the question expects none. */
  hasCandidate: boolean | null
  /** Those details of the question that it states. */
  forms: readonly AnswerForm[]
  /** Of a row of a table. */
  row: ReadRow | null
}

export interface ReadRow extends TableRow {
  /** What each cell has of the question. */
  matched: readonly Matched[]
  /** The same for each cell of the header. One array for all rows of a table. */
  header: readonly Matched[]
}

export interface ReadPassage extends Matched {
  id: number
  /** Compared words of its title. */
  title: ReadonlySet<string>
  /** What title and headings have of the question. */
  head: Matched
  /** What the headings above it have, if there are any. */
  headings: Matched | null
  sentences: ReadSentence[]
}

/** What passages share with a question. */
export interface QuestionEvidence {
  question: ReadQuestion
  passages: ReadPassage[]
  /** Rarity of each wanted word, also of those that no passage has: natural logarithm, above 0. */
  weights: ReadonlyMap<string, number>
  /** The same for words that a sentence has only as another word: as rare as all words of that meaning. */
  relatedWeights: ReadonlyMap<string, number>
}

export interface GivenPassage {
  id: number
  /** The document's title or name; absent where it names nothing. */
  title?: string
  /** The headings above it, as text. */
  headings?: string
  text: string
}

export function readQuestion(text: string): ReadQuestion {
  const language = latinLanguageOf(text)
  const topics = topicWords(text, language)
  const words = new Map(topics.map((word) => [word, weightOfForm(word, language)]))
  return {
    text,
    language,
    type: answerTypeOf(text),
    forms: askedForms(text),
    words,
    related: relatedForms(text, new Set(words.keys()), language),
  }
}

export interface ReadOptions {
  /** Rarity of a compared word in a whole corpus, above 0. Absent: in the sentences of the passages. */
  rarity?: (word: string) => number
}

/**
 * The passages as sentences, with what they share with the question. Time is linear in question and passages; the event loop runs between
 * sentences.
 */
export async function readPassages(
  questionText: string,
  given: readonly GivenPassage[],
  { rarity }: ReadOptions = {},
): Promise<QuestionEvidence> {
  await loadNearWords(latinLanguageOf(questionText))
  const question = readQuestion(questionText)
  const reader: SentenceReader = {
    question,
    known: new Map(),
    pieceShareOf: createPieceShare(questionText),
    slice: createTimeSlices(),
  }
  const passages: ReadPassage[] = []
  for (const passage of given) passages.push(await readPassage(reader, passage))
  const sentences = passages.flatMap((passage) => passage.sentences)
  const counts = new Map<string, number>()
  const relatedCounts = new Map<string, number>()
  for (const { words, related } of sentences) {
    for (const word of words) count(counts, word)
    for (const [word, strength] of related) count(relatedCounts, word, strength)
  }
  const weights = new Map<string, number>()
  const relatedWeights = new Map<string, number>()
  for (const [word, base] of question.words) {
    const direct = (counts.get(word) ?? 0) + unseenCount
    const weight = (rarity?.(word) ?? Math.log(1 + sentences.length / direct)) * base
    const related = Math.log(1 + sentences.length / (direct + (relatedCounts.get(word) ?? 0))) * base
    weights.set(word, weight)
    relatedWeights.set(word, Math.min(related * relatedFactor, weight * maximumRelatedShare))
  }
  return { question, passages, weights, relatedWeights }
}

function count(counts: Map<string, number>, word: string, by = 1) {
  counts.set(word, (counts.get(word) ?? 0) + by)
}

/** A word of that meaning counts more than its rarity, because a question seldom has the words of the file, but less than the word itself. */
const relatedFactor = 1.6
const maximumRelatedShare = 0.95

/** Keeps the rarity of a word that no sentence has finite. */
const unseenCount = 0.5

/** White space that is read after a sentence to find the end of its line. */
const maximumIndent = 32

interface SentenceReader {
  question: ReadQuestion
  /** Compared forms of the words read so far. */
  known: Map<string, string>
  pieceShareOf: (text: string) => number
  slice: () => Promise<void> | void
}

async function readPassage(
  reader: SentenceReader,
  { id, title = '', headings = '', text }: GivenPassage,
): Promise<ReadPassage> {
  const sentences: ReadSentence[] = []
  for (const part of splitTables(joinWrappedLines(text))) {
    const header = part.header.map((cell) => matchWords(reader, cell))
    for (const row of part.rows) {
      const pause = reader.slice()
      if (pause) await pause
      const place = { index: sentences.length, beginsLine: true, endsLine: true }
      sentences.push(readSentence(reader, row.text, place, { ...row, header, matched: [] }))
    }
    let beginsLine = true
    for (const { text: whole, to } of splitSentences(part.text)) {
      const pause = reader.slice()
      if (pause) await pause
      const endsLine = /^[^\S\n]*(?:\n|$)/.test(part.text.slice(to, to + maximumIndent))
      sentences.push(readSentence(reader, whole, { index: sentences.length, beginsLine, endsLine }, null))
      beginsLine = endsLine
    }
  }
  const { question } = reader
  const path = wellFormedStart(headings, maximumSentenceUnits)
  const shortTitle = wellFormedStart(title, maximumSentenceUnits)
  return {
    id,
    title: new Set(topicWords(shortTitle, question.language)),
    head: matchWords(reader, `${shortTitle} ${path}`),
    headings: path === '' ? null : matchWords(reader, path),
    sentences,
    ...joinMatched(sentences),
  }
}

/** A passage in another language shares names and numbers only: its own stemming is of no use. */
function readSentence(
  reader: SentenceReader,
  whole: string,
  place: Pick<ReadSentence, 'index' | 'beginsLine' | 'endsLine'>,
  row: ReadRow | null,
): ReadSentence {
  const text = wellFormedStart(whole, maximumSentenceUnits)
  const matched = row?.cells.map((cell) => matchWords(reader, wellFormedStart(cell, maximumSentenceUnits)))
  return {
    text,
    ...place,
    ...matchWords(reader, text),
    pieceShare: reader.pieceShareOf(text),
    hasCandidate: hasCandidate(text, reader.question.type, reader.question.text),
    forms: statedForms(text, reader.question.forms),
    row: row && matched ? { ...row, matched } : null,
  }
}

function matchWords({ question, known }: SentenceReader, text: string): Matched & { length: number } {
  const read = comparedWords(text, question.language, known)
  const words = new Set(read.filter((word) => question.words.has(word)))
  const related = new Map<string, number>()
  for (const form of read)
    for (const one of question.related.get(form) ?? []) if (!words.has(one.word)) keepNearest(related, one)
  return { words, related, length: read.length }
}

function keepNearest(related: Map<string, number>, { word, strength }: Related) {
  related.set(word, Math.max(related.get(word) ?? 0, strength))
}

export function joinMatched(parts: readonly Matched[]): Matched {
  const words = new Set(parts.flatMap((part) => [...part.words]))
  const related = new Map<string, number>()
  for (const part of parts)
    for (const [word, strength] of part.related) if (!words.has(word)) keepNearest(related, { word, strength })
  return { words, related }
}

/** The first units of a text, without splitting a surrogate pair. */
function wellFormedStart(text: string, units: number): string {
  const last = text.charCodeAt(units - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? units - 1 : units)
}

/** Letters of a piece: shorter ones are in too many words, longer ones miss parts of compounds. */
const pieceLetters = 4
const wordPattern = /[\p{L}\p{N}\p{M}]+/gu

/**
 * Reads which share of a question's pieces a text has, 0..1. A piece is four letters in a row of a word with its borders, so that words are
 * similar that stems keep apart: "hidden" and "unhide", "Konto" and "Benutzerkonto". Time is linear in question and text.
 */
function createPieceShare(question: string): (text: string) => number {
  const wanted = new Set(wordsOf(question).flatMap(piecesOf))
  /** The wanted pieces of the words read so far. */
  const known = new Map<string, readonly string[]>()
  return (text) => {
    const found = new Set<string>()
    for (const word of wordsOf(text)) {
      let pieces = known.get(word)
      if (!pieces) known.set(word, (pieces = piecesOf(word).filter((piece) => wanted.has(piece))))
      for (const piece of pieces) found.add(piece)
    }
    return wanted.size === 0 ? 0 : found.size / wanted.size
  }
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(wordPattern) ?? []
}

function piecesOf(word: string): string[] {
  const framed = `^${word}$`
  return Array.from({ length: Math.max(0, framed.length - pieceLetters + 1) }, (_, at) =>
    framed.slice(at, at + pieceLetters),
  )
}

/** What a sentence of a passage is for its reader. */
export interface SentenceLayout {
  /** False for headings and questions: none of them answers by itself. */
  isQuotable: boolean
  /** The heading or question above it. */
  heading: ReadSentence | null
}

/** Longest heading, UTF-16 units; a longer line without a stop is text. */
const maximumHeadingUnits = 100
/** Longest question that is a heading, as in lists of questions and answers. */
const maximumQuestionUnits = 200

/** Lines below a heading among which its text begins. */
const maximumHeadings = 3

const questionEnd = /[?？؟][”"'’)\]*_]{0,4}$/u
export const isQuestion = (text: string) => questionEnd.test(text)
/** Tags and their attributes, imports, directives, fields of a head such as `description:`, and lines of JSON. */
const markup =
  /^\s*(?:<[/!\p{L}]|import\s.{1,200}\sfrom\s|export\s(?:default|const)|:::|```|---+$|\{[/%]|"[^"]{1,80}":|[a-z]{1,40}="[^"]*"(?:\s|$)|[\]}]+[,;]?$|(?:description|sidebar_label|slug|keywords|tags|image|date|author|id|layout|weight): )/u
const titleField = /^(?:title|name): /
/** Share of signs of programs from which a line is no text. */
const maximumSigns = 0.15

/** The text without lines that are markup or data of programs. Linear. */
export function withoutMarkup(text: string): string {
  return text
    .split('\n')
    .filter((line) => !isMarkup(line))
    .join('\n')
}

/** The layout of each sentence, by its index. Linear in the sentences. */
export function readLayout(sentences: readonly ReadSentence[]): SentenceLayout[] {
  let heading: ReadSentence | null = null
  const isProse = sentences.filter(({ text }) => hasStop(text)).length * 2 >= sentences.length
  return sentences.map((sentence, index) => {
    if (sentence.row) return { isQuotable: true, heading }
    const following = sentences.slice(index + 1, index + 1 + maximumHeadings).map(({ text }) => text)
    if (isHeading(sentence, following, isProse)) {
      heading = sentence
      return { isQuotable: false, heading: null }
    }
    return { isQuotable: true, heading }
  })
}

/**
 * A heading is a question or a whole line. A line without a stop is a heading only if text follows, or if it is the last one of prose: lists, poems and languages without stops have only
 * such lines.
 */
function isHeading(
  { text, beginsLine, endsLine }: ReadSentence,
  following: readonly string[],
  isProse: boolean,
): boolean {
  if (titleField.test(text)) return true
  if (isQuestion(text)) return text.length <= maximumQuestionUnits
  if (!beginsLine || !endsLine || text.length > maximumHeadingUnits || isListItem(text) || text.includes(' | '))
    return false
  if (/^#{1,6} /.test(text) || /^\*\*[^*]+\*\*$/.test(text)) return true
  if (hasStop(text)) return false
  return following.length === 0 ? isProse : following.some((next) => hasStop(next) || isListItem(next))
}

function isMarkup(line: string): boolean {
  if (markup.test(line)) return true
  const signs = line.match(/[{}<>=\\"]/g)?.length ?? 0
  return signs > 2 && signs > line.length * maximumSigns
}
