import {
  broadWeights,
  maximumQuoteUnits,
  measureSentences,
  type SentenceFeatures,
  sentenceWeights,
  weightOf,
} from './measure-sentences.ts'
import {
  type Matched,
  type QuestionEvidence,
  type ReadPassage,
  type ReadRow,
  type ReadSentence,
} from './read-passages.ts'
import type { SentenceLayout } from './sentence-layout.ts'
import { isListItem } from './text-lines.ts'

/** What one quote of an answer holds: a sentence of a passage, and a neighbour where it needs one. */
export interface RankedSentence {
  /** The passage's number. */
  id: number
  /** Neighbouring sentences in the order of the passage, at most `maximumQuoteUnits` in all; one text for rows of a table. */
  sentences: string[]
}

/** Quotes in one answer, and of one passage: enough for a fact and its context. */
const maximumQuotes = 5
const maximumQuotesOfPassage = 4
/** A sentence with a lower share of the best score is omitted. */
const worthwhileShare = 0.2
/** A sentence with this share of the question needs no sentence before it, unless it refers to one. */
const completeShare = 0.8
/** Sentences before the best one that are quoted with it: an answer often needs its paragraph's beginning. */
const sentencesBefore = 3

/**
 * The sentences that most likely answer, best first: shared words and synonyms by rarity, in the sentence, next to it, in its heading, its
 * title, its section and its passage, near words, similar words, the expected kind of answer, and the passage's rank. Headings and questions are not quoted. The
 * sentences after it are quoted as far as they fit; those before it where it refers back to them, or continues a list, or has not all of the
 * question. Rows of a table are quoted with the names of their cells. Empty if no word is shared.
 */
export function rankSentences(evidence: QuestionEvidence): RankedSentence[] {
  const completeWeight = completeShare * weightOf(evidence.question.words.keys(), evidence.weights)
  const quotes: RankedSentence[] = []
  const used = new Set<ReadSentence>()
  const texts = new Set<string>()
  for (const { passage, layout, sentence } of orderSentences(evidence)) {
    if (quotes.length === maximumQuotes) break
    if (used.has(sentence) || texts.has(sentence.text)) continue
    if (quotes.filter(({ id }) => id === passage.id).length === maximumQuotesOfPassage) continue
    if (sentence.row) {
      const { rows, text } = quoteRows(passage, sentence.row, maximumQuoteUnits)
      for (const row of rows) used.add(row)
      if (!texts.has(text)) quotes.push({ id: passage.id, sentences: [text] })
      texts.add(text)
      continue
    }
    const quoted = withNeighbours(passage, layout, sentence, {
      isQuoted: (one) => used.has(one) || texts.has(one.text),
      isComplete: weightOf(sentence.words, evidence.weights) >= completeWeight,
    })
    for (const part of quoted) {
      used.add(part)
      texts.add(part.text)
    }
    quotes.push({ id: passage.id, sentences: quoted.map(({ text }) => text) })
  }
  return quotes
}

/** In turns by `sentenceWeights` and by `broadWeights`: where one ranking is misled, the other seldom is. */
function orderSentences(evidence: QuestionEvidence) {
  const measured = measureSentences(evidence)
  const best = sortBy(measured, sentenceWeights)
  const broad = sortBy(measured, broadWeights)
  return measured.flatMap((_, at) => [best[at] ?? [], broad[at] ?? []].flat())
}

/** The best first. */
function sortBy<Item extends { features: SentenceFeatures }>(
  items: readonly Item[],
  weights: Readonly<Record<keyof SentenceFeatures, number>>,
): Item[] {
  const names = Object.keys(weights) as (keyof SentenceFeatures)[]
  const scored = items.map((item) => ({
    item,
    score: names.reduce((sum, name) => sum + weights[name] * item.features[name], 0),
  }))
  scored.sort((left, right) => right.score - left.score)
  const least = (scored[0]?.score ?? 0) * worthwhileShare
  return scored.filter(({ score }) => score >= least).map(({ item }) => item)
}

/**
 * The sentence, those before it, and what follows below the same heading, as far as it fits: an answer continues more often than it ends with
 * its first sentence.
 */
function withNeighbours(
  { sentences }: ReadPassage,
  layout: readonly SentenceLayout[],
  sentence: ReadSentence,
  { isQuoted, isComplete }: { isQuoted: (sentence: ReadSentence) => boolean; isComplete: boolean },
): ReadSentence[] {
  const quoted = [sentence]
  let units = sentence.text.length
  const isFitting = (neighbour: ReadSentence | undefined): neighbour is ReadSentence =>
    neighbour !== undefined &&
    !isQuoted(neighbour) &&
    neighbour.row === null &&
    layout[neighbour.index]!.isQuotable &&
    layout[neighbour.index]!.heading === layout[sentence.index]!.heading &&
    units + neighbour.text.length < maximumQuoteUnits
  const isContinued = (from: ReadSentence) =>
    isListItem(from.text) || refersBack(from.text) || (!isComplete && sentence.index - from.index < sentencesBefore)
  for (let first = sentence; isContinued(first);) {
    const previous = sentences[first.index - 1]
    if (!isFitting(previous)) break
    quoted.unshift(previous)
    units += previous.text.length
    first = previous
  }
  for (let next = sentences[sentence.index + 1]; isFitting(next); next = sentences[next.index + 1]) {
    quoted.push(next)
    units += next.text.length
  }
  return quoted
}

/** Pronouns and adverbs at the beginning of a sentence that refer to the sentence before it. */
const spacedWords =
  'he|she|it|they|this|these|those|such|his|her|its|their|there|then|however|er|sie|es|dies\\p{L}*|ihr\\p{L}*|sein\\p{L}*|dort|damit|daraufhin|dadurch|danach|' +
  'il|elle|ils|elles|ce|cette|ces|esto|este|esta|estos|estas|su|questo|questa|essi|он|она|оно|они|это|этот|ông|bà|nó|họ|điều này|những điều|ở đó|do đó|' +
  'هو|هي|هم|هذا|هذه|ذلك|وهو|وهي|وكان|وكانت'
const spacelessWords = '他|她|它|这|這|该|該|其|此|เขา|มัน|พวกเขา|นี่|นี้|これ|それ|その|この'
const pattern = new RegExp(`^["“«(]?(?:(?:${spacedWords})(?![\\p{L}\\p{M}])|(?:${spacelessWords}))`, 'iu')

/** Whether a sentence begins with a word that refers to the sentence before it. */
function refersBack(sentence: string): boolean {
  return pattern.test(sentence)
}

/** Rows in one quote. */
const maximumRows = 3

/**
 * The rows of the same table that have the same words of the question as one of them, as text. If the question names a column, its values in
 * all these rows; otherwise the first rows, each cell with the name of its column. At most `maximumUnits` UTF-16 units.
 */
function quoteRows(
  { sentences }: ReadPassage,
  best: ReadRow,
  maximumUnits: number,
): { rows: ReadSentence[]; text: string } {
  const named = wordsOf(best.matched)
  const keys = best.matched.flatMap((cell, column) => (sizeOf(cell) > 0 ? [column] : []))
  const asked = best.header.flatMap((cell, column) => (sizeOf(cell) > 0 && !keys.includes(column) ? [column] : []))
  const rows = sentences.filter(({ row }) => row?.header === best.header && named.isSubsetOf(wordsOf(row.matched)))
  if (asked.length > 0 && keys.length > 0) {
    const columns = [...keys, ...asked].map((column) => {
      const values = new Set(rows.map(({ row }) => row!.cells[column] ?? '').filter((value) => value !== ''))
      return withName(best, column, [...values].join(', '))
    })
    const text = columns.join('; ')
    if (text.length <= maximumUnits) return { rows, text }
  }
  const first = rows.find(({ row }) => row === best)!
  const others = rows.filter((row) => row !== first).slice(0, maximumRows - 1)
  let text = composeRow(first.row!)
  const quoted = [first]
  for (const row of others) {
    const next = composeRow(row.row!)
    if (text.length + next.length > maximumUnits) break
    text += `. ${next}`
    quoted.push(row)
  }
  return { rows: quoted, text }
}

/** "Plan: Starter; Price: $9" */
function composeRow(row: ReadRow): string {
  return row.cells.flatMap((cell, column) => (cell === '' ? [] : [withName(row, column, cell)])).join('; ')
}

function withName({ names }: ReadRow, column: number, value: string): string {
  const name = names[column] ?? ''
  return name === '' || name === value ? value : `${name}: ${value}`
}

const sizeOf = ({ words, related }: Matched) =>
  words.size + [...related.values()].reduce((sum, strength) => sum + strength, 0)

function wordsOf(cells: readonly Matched[]): Set<string> {
  return new Set(cells.flatMap(({ words, related }) => [...words, ...related.keys()]))
}
