import { createTimeSlices } from '../kernel/index.ts'
import { type Language, loadNearWords, splitSentences } from '../language/index.ts'
import { type AnswerForm, askedForms, statedForms } from './answer-form.ts'
import { type AnswerType, answerTypeOf, hasCandidate } from './answer-type.ts'
import { comparedWords, latinLanguageOf, type Related, relatedForms, topicWords, weightOfForm } from './words.ts'
import { isHeader } from './evidence.ts'
import { cellSeparator, isTableRow, joinWrappedLines } from './text-lines.ts'

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

interface TableRow {
  text: string
  cells: readonly string[]
  /** The cells of the header above; empty where the table has none. */
  names: readonly string[]
}

/** A text without tables, or the rows of a table below its header. */
interface TextPart {
  text: string
  header: readonly string[]
  rows: readonly TableRow[]
}

/** The tables of a text, and the text between them, in order. Rows have a separator between their cells. Linear. */
export function splitTables(text: string): TextPart[] {
  const parts: TextPart[] = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length;) {
    const isTable = isTableRow(lines[at]!)
    let end = at + 1
    while (end < lines.length && isTableRow(lines[end]!) === isTable) end++
    const run = lines.slice(at, end)
    parts.push(isTable ? readTable(run) : { text: run.join('\n'), header: [], rows: [] })
    at = end
  }
  return parts
}

function readTable(lines: readonly string[]): TextPart {
  const hasHeader = lines.length > 1 && isHeader(lines[0]!)
  const names = hasHeader ? cellsOf(lines[0]!) : []
  const rows = lines.slice(hasHeader ? 1 : 0).map((line) => ({ text: line.trim(), cells: cellsOf(line), names }))
  return { text: '', header: names, rows }
}

const cellsOf = (line: string) => line.split(cellSeparator).map((cell) => cell.trim())

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
