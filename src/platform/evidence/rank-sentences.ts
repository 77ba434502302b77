import {
  hasStop,
  isListItem,
  type Matched,
  type QuestionEvidence,
  type ReadPassage,
  type ReadRow,
  type ReadSentence,
} from './read-passages.ts'
import { topicWords } from './words.ts'

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
/** Longest quote with neighbours, UTF-16 units: two to four sentences. */
const maximumQuoteUnits = 600
/** A sentence with this share of the question needs no sentence before it, unless it refers to one. */
const completeShare = 0.8
/** Sentences before the best one that are quoted with it: an answer often needs its paragraph's beginning. */
const sentencesBefore = 3

/*
 * The weights below were compared in steps on the questions of `handbooks`, and on 150 about an employee handbook and the help of a desktop in
 * English and German: on all handbooks but one, and measured on that one. Neighbouring values change the result by a point or two.
 */
/** Long sentences contain more words by chance; larger values damp them less. */
const lengthDamping = 8
/** Weight of the question's words in the whole passage. */
const passageWeight = 0.05
/** Added where the sentence has words of the expected kind (a date, a name), subtracted where it lacks them; share of the question. */
const candidateWeight = 0.05
/** Subtracted for each rank of the passage in the search, for the first ranks; share of the question. */
const rankWeight = 0.015
const countedRanks = 10
/** Weight of the question's words in the heading above a sentence, and how much of it the next sentence keeps. */
const headingWeight = 0.6
const headingFade = 0.97
/** Weight of the question's words in the next sentence, and in title and headings of the passage. */
const neighbourWeight = 0.15
const headWeight = 0.1
/** Weight of how many of the question's words are in the sentence, without their rarity; of its pieces; share of the question. */
const countWeight = 0.2
const pieceWeight = 0.25
/** Weight of how much of the heading is in the question; share of the question. */
const headingUsedWeight = 0.05

interface Scored {
  passage: ReadPassage
  layout: readonly SentenceLayout[]
  sentence: ReadSentence
  score: number
}

/**
 * The sentences that most likely answer, best first: shared words and synonyms by rarity, in the sentence, next to it, in its heading, its
 * title and its passage, similar words, the expected kind of answer, and the passage's rank. Headings and questions are not quoted. The
 * sentences after it are quoted as far as they fit; those before it where it refers back to them, or continues a list, or has not all of the
 * question. Rows of a table are quoted with the names of their cells. Empty if no word is shared.
 */
export function rankSentences(evidence: QuestionEvidence): RankedSentence[] {
  const scored = scoreSentences(evidence)
  const best = scored[0]?.score ?? 0
  const completeWeight = completeShare * weightOf(evidence.question.words.keys(), evidence.weights)
  const quotes: RankedSentence[] = []
  const used = new Set<ReadSentence>()
  const texts = new Set<string>()
  for (const { passage, layout, sentence, score } of scored) {
    if (quotes.length === maximumQuotes || score < best * worthwhileShare) break
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

function scoreSentences(evidence: QuestionEvidence): Scored[] {
  const { question, passages, weights } = evidence
  const total = weightOf(question.words.keys(), weights)
  const usedOf = createHeadingUse(evidence)
  const scored: Scored[] = []
  for (const [rank, passage] of passages.entries()) {
    const layout = readLayout(passage.sentences)
    const { sentences, head } = passage
    const ofPassage =
      passageWeight * matchedWeight(evidence, passage) - rankWeight * total * Math.min(rank, countedRanks)
    for (const sentence of sentences) {
      const { isQuotable, heading } = layout[sentence.index]!
      if (!isQuotable) continue
      const seen: Matched[] = [sentence]
      const add = (matched: Matched | undefined) => {
        if (matched === undefined) return 0
        const weight = matchedWeight(evidence, matched, seen)
        seen.push(matched)
        return weight
      }
      const own = matchedWeight(evidence, sentence) / (1 + Math.log1p(sentence.length) / lengthDamping)
      let around = 0
      for (const cell of sentence.row?.header ?? []) around += headingWeight * add(cell)
      if (heading) around += headingWeight * headingFade ** (sentence.index - heading.index - 1) * add(heading)
      else if (passage.headings) around += headingWeight * headingFade ** sentence.index * add(passage.headings)
      if (own + around === 0) continue
      const following = sentences[sentence.index + 1]
      const isContinuing = !sentence.row && following && !following.row && layout[following.index]!.heading === heading
      if (isContinuing && layout[following.index]!.isQuotable) around += neighbourWeight * add(following)
      around += headWeight * add(head)
      const sign = sentence.hasCandidate === null ? 0 : sentence.hasCandidate ? 1 : -1
      const shares =
        (countWeight * (sentence.words.size + sentence.related.size)) / question.words.size +
        pieceWeight * sentence.pieceShare +
        headingUsedWeight * usedOf(heading) +
        sign * candidateWeight
      const score = own + around + ofPassage + shares * total
      scored.push({ passage, layout, sentence, score })
    }
  }
  return scored.sort((left, right) => right.score - left.score)
}

/** The share of a heading's topic words that the question has, also as words with the same meaning. */
function createHeadingUse({ question }: QuestionEvidence) {
  const known = new Map<ReadSentence, number>()
  return (heading: ReadSentence | null): number => {
    if (heading === null) return 0
    let used = known.get(heading)
    if (used === undefined) {
      const words = topicWords(heading.text, question.language)
      used = words.filter((word) => question.words.has(word) || question.related.has(word)).length / (words.length || 1)
      known.set(heading, used)
    }
    return used
  }
}

/** The weight of what a text has of the question beyond what `known` has. */
function matchedWeight(
  { weights, relatedWeights }: QuestionEvidence,
  matched: Matched,
  known: readonly Matched[] = [],
) {
  let sum = 0
  for (const word of matched.words) if (!known.some(({ words }) => words.has(word))) sum += weights.get(word) ?? 0
  for (const word of matched.related) {
    if (!known.some(({ words, related }) => words.has(word) || related.has(word))) sum += relatedWeights.get(word) ?? 0
  }
  return sum
}

export function weightOf(words: Iterable<string>, weights: ReadonlyMap<string, number>): number {
  let sum = 0
  for (const word of words) sum += weights.get(word) ?? 0
  return sum
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

const sizeOf = ({ words, related }: Matched) => words.size + related.size

function wordsOf(cells: readonly Matched[]): Set<string> {
  return new Set(cells.flatMap(({ words, related }) => [...words, ...related]))
}

/** What a sentence of a passage is for its reader. */
interface SentenceLayout {
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

const question = /[?？؟][”"'’)\]*_]{0,4}$/u
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
function readLayout(sentences: readonly ReadSentence[]): SentenceLayout[] {
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
  if (question.test(text)) return text.length <= maximumQuestionUnits
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
