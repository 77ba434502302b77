import { type MeasuredSentence, measureSentences, type SentenceFeatures, sentenceWeights } from './measure-evidence.ts'
import {
  type Matched,
  type QuestionEvidence,
  type ReadPassage,
  type ReadRow,
  type ReadSentence,
} from './read-passages.ts'

/** What one quote of an answer holds: neighbouring sentences of a passage, or rows of a table. */
export interface RankedSentence {
  /** The passage's number. */
  id: number
  /** Neighbouring sentences in the order of the passage, at most `maximumQuoteUnits` in all; one text for rows of a table. */
  sentences: string[]
}

/** Quotes in one answer, and of one passage: enough for a fact and its context. */
const maximumQuotes = 5
const maximumQuotesOfPassage = 4
/** Turns of the choice: rows of two tables may have one text. */
const maximumTurns = 2 * maximumQuotes
/** Longest quote, UTF-16 units: two to four sentences. */
const maximumQuoteUnits = 600
/** Most sentences of one quote. */
const maximumSentences = 12
/** How much less a sentence counts than the one before it in a quote: the answer shall come first. */
const placeDecay = 0.9
/** Quotes after the first one are omitted below this probability. */
const worthwhileProbability = 0.01

/** A sentence with the probability that it answers. */
interface Candidate extends MeasuredSentence {
  probability: number
}

/** Consecutive candidates of one passage: those from `first` up to `end`. */
interface Part {
  run: readonly Candidate[]
  first: number
  end: number
  /** Expected share of the answer: probabilities, less for sentences further from the beginning. */
  value: number
}

/**
 * The quotes that most likely hold the answer, best first. Each sentence has a probability by its features (`sentenceWeights`). A quote is a
 * run of sentences below one heading, chosen for the sum of their probabilities; the next quote is chosen from the rest. Headings and questions
 * are not quoted. Rows of a table are quoted with the names of their cells. Empty if no word is shared.
 */
export function rankSentences(evidence: QuestionEvidence, weights = sentenceWeights): RankedSentence[] {
  const runs = splitRuns(withProbabilities(measureSentences(evidence), weights))
  const quotes: RankedSentence[] = []
  const used = new Set<ReadSentence>()
  const texts = new Set<string>()
  const isUsed = ({ sentence }: Candidate) => used.has(sentence) || texts.has(sentence.text)
  for (let turn = 0; turn < maximumTurns && quotes.length < maximumQuotes; turn++) {
    let best: Part | null = null
    for (const run of runs) {
      const { id } = run[0]!.passage
      if (quotes.filter((quote) => quote.id === id).length === maximumQuotesOfPassage) continue
      const part = bestPart(run, isUsed)
      if (part.value > (best?.value ?? 0)) best = part
    }
    if (best === null || (quotes.length > 0 && best.value < worthwhileProbability)) break
    const { passage, sentence } = best.run[0]!
    const rows = sentence.row && quoteRows(passage, sentence.row, maximumQuoteUnits)
    const parts = rows?.rows ?? withEarlier(best, isUsed)
    const sentences = rows ? [rows.text] : parts.map(({ text }) => text)
    if (!sentences.every((text) => texts.has(text))) quotes.push({ id: passage.id, sentences })
    for (const part of parts) used.add(part)
    for (const text of [...sentences, ...parts.map((part) => part.text)]) texts.add(text)
  }
  return quotes
}

/** A softmax of the weighted features. */
function withProbabilities(measured: readonly MeasuredSentence[], weights: typeof sentenceWeights): Candidate[] {
  const names = Object.keys(weights) as (keyof SentenceFeatures)[]
  const scores = measured.map(({ features }) => names.reduce((sum, name) => sum + weights[name] * features[name], 0))
  const most = scores.reduce((best, score) => Math.max(best, score), Number.NEGATIVE_INFINITY)
  const odds = scores.map((score) => Math.exp(score - most))
  const total = odds.reduce((sum, value) => sum + value, 0)
  return measured.map((one, at) => ({ ...one, probability: odds[at]! / total }))
}

/** Consecutive sentences below the same heading; each row of a table alone. */
function splitRuns(candidates: readonly Candidate[]): Candidate[][] {
  const runs: Candidate[][] = []
  for (const candidate of candidates) {
    const last = runs.at(-1)?.at(-1)
    const continues =
      last &&
      last.passage === candidate.passage &&
      !last.sentence.row &&
      !candidate.sentence.row &&
      last.sentence.index === candidate.sentence.index - 1 &&
      last.layout[last.sentence.index]!.heading === candidate.layout[candidate.sentence.index]!.heading
    if (continues) runs.at(-1)!.push(candidate)
    else runs.push([candidate])
  }
  return runs
}

/** The part of a run with the largest value. Linear in the run, because a quote has at most `maximumSentences`. */
function bestPart(run: readonly Candidate[], isUsed: (candidate: Candidate) => boolean): Part {
  let best: Part = { run, first: 0, end: 0, value: 0 }
  for (let first = 0; first < run.length; first++) {
    const part = measurePart(run, first, isUsed)
    if (part.value > best.value) best = { run, first, ...part }
  }
  return best
}

/** As many sentences from `first` on as fit, and their value. */
function measurePart(run: readonly Candidate[], first: number, isUsed: (candidate: Candidate) => boolean) {
  let value = 0
  let units = 0
  let end = first
  for (; end < run.length && end - first < maximumSentences; end++) {
    const one = run[end]!
    units += one.sentence.text.length + 1
    if (isUsed(one) || (end > first && units > maximumQuoteUnits)) break
    value += one.probability * placeDecay ** (end - first)
  }
  return { value, end }
}

/** The sentences of a part, with those before that its first one refers to, instead of the last ones where all do not fit. */
function withEarlier({ run, first, end }: Part, isUsed: (candidate: Candidate) => boolean): ReadSentence[] {
  const parts = run.slice(first, end).map(({ sentence }) => sentence)
  let units = parts.reduce((sum, { text }) => sum + text.length + 1, 0)
  for (let at = first - 1; at >= 0 && refersBack(parts[0]!.text) && !isUsed(run[at]!); at--) {
    const { sentence } = run[at]!
    units += sentence.text.length + 1
    while (units > maximumQuoteUnits && parts.length > 1) units -= parts.pop()!.text.length + 1
    if (units > maximumQuoteUnits) break
    parts.unshift(sentence)
  }
  return parts
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
