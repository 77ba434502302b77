import {
  joinMatched,
  type Matched,
  type QuestionEvidence,
  type ReadPassage,
  type ReadSentence,
} from './read-passages.ts'
import { isQuestion, readLayout, type SentenceLayout } from './sentence-layout.ts'
import { topicWords } from './words.ts'

/** Longest quote with neighbours, UTF-16 units: two to four sentences. */
export const maximumQuoteUnits = 600
/** Long sentences contain more words by chance; larger values damp them less. */
const lengthDamping = 8
/** Places of passages, and sentences below a heading, that are distinguished. */
const countedRanks = 10
/** How much of a heading's share the next sentence keeps. */
const headingFade = 0.97
/** Sentences after one that count for it. */
const countedAfter = 5

/** What a sentence and its surroundings have of the question. Shares are of the weight of the question's words, where rare words weigh more. */
export interface SentenceFeatures {
  /** Share that the sentence has, and what synonyms and near words add. */
  own: number
  ownRelated: number
  /** Share that the sentences after it add, as far as they are quoted with it. */
  after: number
  afterRelated: number
  /** Share that the heading above, or the header of the table, adds; less, the further above it is. */
  heading: number
  headingRelated: number
  /** Share of the heading's words that the question has. */
  headingUsed: number
  /** Share that title and headings of the passage add. */
  head: number
  /** Share that the whole passage has. */
  passage: number
  passageRelated: number
  /** Share that the heading and all sentences below it have. */
  section: number
  sectionRelated: number
  /** Share that the heading has, if it is a question. */
  askedHeading: number
  /** Share of the words without their rarity, and of the question's pieces. */
  count: number
  pieces: number
  piecesAfter: number
  /** 1: has words of the expected kind; -1: lacks them; 0: the question expects none. */
  candidate: number
  /** Logarithm of the words of the sentence. */
  length: number
  /** Place of the passage in the search, up to `countedRanks`. */
  rank: number
  /** Sentences between it and its heading, up to `countedRanks`. */
  distance: number
  /** Of a row of a table. */
  isRow: number
}

/**
 * Weights of the features. Fitted by `bin/run eval/fit-quotes.ts` on 188 questions about five handbooks, and rounded: the first quote answers 97
 * of them, with the weights before 90.
 */
export const sentenceWeights: Record<keyof SentenceFeatures, number> = {
  own: 1,
  ownRelated: 1,
  after: 0.11,
  afterRelated: 0.2,
  heading: 0.6,
  headingRelated: 0.6,
  headingUsed: 0.22,
  head: 0.3,
  passage: 0.1,
  passageRelated: 0.03,
  section: 0.15,
  sectionRelated: 0.15,
  askedHeading: 0.4,
  count: 0.1,
  pieces: 0.7,
  piecesAfter: 0.7,
  candidate: 0.08,
  length: -0.06,
  rank: -0.015,
  distance: -0.015,
  isRow: 0.03,
}

/** Without what only distinguishes the best: more of the question's words, fewer other signs. */
export const broadWeights: typeof sentenceWeights = {
  ...sentenceWeights,
  ownRelated: 0.65,
  after: 0.15,
  afterRelated: 0.1,
  heading: 0.6,
  headingRelated: 0.4,
  headingUsed: 0.05,
  head: 0.1,
  passage: 0.05,
  passageRelated: 0.03,
  section: 0,
  sectionRelated: 0,
  askedHeading: 0,
  count: 0.2,
  pieces: 0.25,
  piecesAfter: 0,
  candidate: 0.05,
  length: 0,
  distance: 0,
  isRow: 0,
}

export interface MeasuredSentence {
  passage: ReadPassage
  layout: readonly SentenceLayout[]
  sentence: ReadSentence
  features: SentenceFeatures
}

/** The sentences that can be quoted and have, or whose heading has, a word of the question. Time is linear in the words of the evidence. */
export function measureSentences(evidence: QuestionEvidence): MeasuredSentence[] {
  const measured: MeasuredSentence[] = []
  const usedOf = createHeadingUse(evidence)
  for (const [rank, passage] of evidence.passages.entries()) {
    const layout = readLayout(passage.sentences)
    const measure = createShares(evidence)
    const ofPassage = measure([passage])
    const sections = readSections(passage, layout)
    const shares = new Map([...sections].map(([heading, section]) => [heading, measure([section])]))
    for (const sentence of passage.sentences) {
      const { isQuotable, heading } = layout[sentence.index]!
      if (!isQuotable) continue
      const around = measureAround(evidence, { passage, layout, sentence })
      if (around === null) continue
      const section = shares.get(heading)!
      const features: SentenceFeatures = {
        ...around,
        headingUsed: usedOf(heading),
        passage: ofPassage.exact,
        passageRelated: ofPassage.related,
        section: section.exact,
        sectionRelated: section.related,
        askedHeading: heading && isQuestion(heading.text) ? around.heading + around.headingRelated : 0,
        rank: Math.min(rank, countedRanks),
      }
      measured.push({ passage, layout, sentence, features })
    }
  }
  return measured
}

/** What each heading and the sentences below it have of the question together. */
function readSections({ sentences, headings }: ReadPassage, layout: readonly SentenceLayout[]) {
  const sections = new Map<ReadSentence | null, Matched>()
  for (const [heading, below] of Map.groupBy(sentences, ({ index }) => layout[index]!.heading)) {
    const above = heading ? [heading] : headings ? [headings] : []
    sections.set(heading, joinMatched([...above, ...below.filter(({ index }) => layout[index]!.isQuotable)]))
  }
  return sections
}

/** The features of a sentence, its heading and its neighbours. Null: neither it nor its heading has a word of the question. */
function measureAround(
  evidence: QuestionEvidence,
  { passage, layout, sentence }: Pick<MeasuredSentence, 'passage' | 'layout' | 'sentence'>,
) {
  const { question } = evidence
  const measure = createShares(evidence)
  const own = measure([sentence])
  const { heading } = layout[sentence.index]!
  const { row } = sentence
  const distance = row ? 0 : sentence.index - (heading ? heading.index + 1 : 0)
  const fade = headingFade ** distance
  const above = measure(row ? row.header : heading ? [heading] : passage.headings ? [passage.headings] : [])
  if (own.exact + own.related + above.exact + above.related === 0) return null
  const next = followingSentences(passage, layout, sentence)
  const after = measure(next)
  const head = measure([passage.head])
  const damping = 1 + Math.log1p(sentence.length) / lengthDamping
  return {
    own: own.exact / damping,
    ownRelated: own.related / damping,
    after: after.exact,
    afterRelated: after.related,
    heading: above.exact * fade,
    headingRelated: above.related * fade,
    head: head.exact + head.related,
    count: (sentence.words.size + sumOf(sentence.related.values())) / (question.words.size || 1),
    pieces: sentence.pieceShare,
    piecesAfter: Math.max(0, ...next.map(({ pieceShare }) => pieceShare - sentence.pieceShare)),
    candidate: sentence.hasCandidate === null ? 0 : sentence.hasCandidate ? 1 : -1,
    length: Math.log1p(sentence.length),
    distance: Math.min(distance, countedRanks),
    isRow: row ? 1 : 0,
  }
}

/** The sentences after one below the same heading, as far as they fit into its quote. */
function followingSentences(
  { sentences }: ReadPassage,
  layout: readonly SentenceLayout[],
  sentence: ReadSentence,
): ReadSentence[] {
  if (sentence.row) return []
  const next: ReadSentence[] = []
  let units = sentence.text.length
  for (const one of sentences.slice(sentence.index + 1, sentence.index + 1 + countedAfter)) {
    const { isQuotable, heading } = layout[one.index]!
    units += one.text.length
    if (one.row || !isQuotable || heading !== layout[sentence.index]!.heading || units > maximumQuoteUnits) break
    next.push(one)
  }
  return next
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

/**
 * Measures which share of the question texts have beyond those measured before: as its words, and as words of that meaning. Each word of the
 * question counts once.
 */
function createShares({ question, weights, relatedWeights }: QuestionEvidence) {
  const total = weightOf(question.words.keys(), weights) || 1
  /** How much of a wanted word the texts have, 0..1. */
  const strengths = new Map<string, number>()
  return (texts: readonly Matched[]) => {
    let exact = 0
    let related = 0
    const add = (word: string, strength: number, weight: number) => {
      const more = strength - (strengths.get(word) ?? 0)
      if (more <= 0) return 0
      strengths.set(word, strength)
      return (more * weight) / total
    }
    for (const text of texts) {
      for (const word of text.words) exact += add(word, 1, weights.get(word) ?? 0)
      for (const [word, strength] of text.related) related += add(word, strength, relatedWeights.get(word) ?? 0)
    }
    return { exact, related }
  }
}

function sumOf(values: Iterable<number>): number {
  let sum = 0
  for (const value of values) sum += value
  return sum
}

export function weightOf(words: Iterable<string>, weights: ReadonlyMap<string, number>): number {
  let sum = 0
  for (const word of words) sum += weights.get(word) ?? 0
  return sum
}
