import {
  joinMatched,
  isQuestion,
  type Matched,
  type QuestionEvidence,
  type ReadPassage,
  type ReadSentence,
  readLayout,
  type SentenceLayout,
} from './read-passages.ts'
import { isListItem } from './segments.ts'

/** Long sentences contain more words by chance; larger values damp them less. */
const lengthDamping = 8
/** Sentences below a heading that are distinguished. */
const countedRanks = 10
/** Words of a sentence that states little. */
const shortWords = 5

/**
 * What a sentence and its surroundings have of the question. Shares are of the weight of the question's words, where rare words weigh more; *key*
 * is the weight of the rarest word compared with that of the rarest one that any passage has.
 */
export interface SentenceFeatures {
  /** Share that the sentence has, and what synonyms and near words add. */
  own: number
  ownRelated: number
  /** Share that the sentence before it adds to it, the heading and the title. */
  before: number
  /** Share that title and headings of the passage add. */
  head: number
  /** Share that the heading and all sentences below it have. */
  section: number
  /** Share that the heading has, if it is a question. */
  askedHeading: number
  /** Share of the question's pieces that the sentence has, and its heading. */
  pieces: number
  piecesHeading: number
  keyHeading: number
  keyHead: number
  /** Share with the heading, of the section and of the passage, compared with the best one of all sentences. */
  nearOfBest: number
  sectionOfBest: number
  passageOfBest: number
  /** 1: has words of the expected kind; -1: lacks them; 0: the question expects none. */
  candidate: number
  /** The same where the question expects a number. */
  number: number
  /** Share of the details that the question asks for which the sentence states. */
  forms: number
  /** Logarithm of the words of the sentence. */
  length: number
  /** 1 where it applies, otherwise 0. */
  isShort: number
  isItem: number
  /** It announces what follows. */
  isLead: number
  /** It names another place to read. */
  isPointer: number
  isRow: number
  /** Logarithm of the place of the passage in the search. */
  rank: number
  /** Sentences between it and its heading, up to `countedRanks`. */
  distance: number
}

/**
 * Weights of the features, in logarithms of odds. Fitted as in `eval/fit-quotes.ts` on 284 questions about six handbooks, 74 questions of
 * `answerability` (each half as much) and 153 of `retrieval/xquad-*` (each 0.3), and rounded. Fitted without a handbook, the first quote about it
 * answers 39 % of all its questions (36 % with the rules before), its first sentence 25 % (12 %), any quote 65 % (62 %).
 */
export const sentenceWeights: Record<keyof SentenceFeatures, number> = {
  own: 3.52,
  ownRelated: 6.4,
  before: 2.88,
  head: 6.81,
  section: 0.71,
  askedHeading: 3.07,
  pieces: 5.15,
  piecesHeading: 3.36,
  keyHeading: 0.63,
  keyHead: 1.1,
  nearOfBest: 2.35,
  sectionOfBest: 0.98,
  passageOfBest: 0.92,
  candidate: 0.23,
  number: 1.0,
  forms: 1.39,
  length: -0.43,
  isShort: -1.28,
  isItem: 0.41,
  isLead: -0.36,
  isPointer: -0.5,
  isRow: 0.51,
  rank: -0.33,
  distance: -0.042,
}

export interface MeasuredSentence {
  passage: ReadPassage
  layout: readonly SentenceLayout[]
  sentence: ReadSentence
  features: SentenceFeatures
}

/** The sentences that can be quoted and that have a word of the question in their section. Linear in the evidence. */
export function measureSentences(evidence: QuestionEvidence): MeasuredSentence[] {
  const measured: MeasuredSentence[] = []
  const best = { near: 0, section: 0, passage: 0 }
  const rarest = Math.max(0, ...evidence.passages.map((passage) => keyOf(evidence, passage))) || 1
  for (const [rank, passage] of evidence.passages.entries()) {
    const layout = readLayout(passage.sentences)
    const ofPassage = sumOf(createShares(evidence)([passage]))
    best.passage = Math.max(best.passage, ofPassage)
    const sections = readSections(evidence, passage, layout)
    for (const sentence of passage.sentences) {
      const { isQuotable, heading } = layout[sentence.index]!
      if (!isQuotable) continue
      const section = sections.get(heading)!
      if (section.share === 0) continue
      const { above, near, ...shares } = measureAround(evidence, { passage, layout, sentence })
      best.near = Math.max(best.near, near)
      best.section = Math.max(best.section, section.share)
      const features: SentenceFeatures = {
        ...shares,
        ...readSigns(evidence, sentence),
        section: section.exact,
        askedHeading: heading && isQuestion(heading.text) ? above : 0,
        pieces: sentence.pieceShare,
        piecesHeading: heading?.pieceShare ?? 0,
        keyHeading: keyOf(evidence, heading ?? passage.headings) / rarest,
        keyHead: keyOf(evidence, passage.head) / rarest,
        nearOfBest: near,
        sectionOfBest: section.share,
        passageOfBest: ofPassage,
        rank: Math.log1p(rank),
      }
      measured.push({ passage, layout, sentence, features })
    }
  }
  for (const { features } of measured) {
    features.nearOfBest /= best.near || 1
    features.sectionOfBest /= best.section || 1
    features.passageOfBest /= best.passage || 1
  }
  return measured
}

/** What each heading and the sentences below it have of the question together. */
function readSections(
  evidence: QuestionEvidence,
  { sentences, headings }: ReadPassage,
  layout: readonly SentenceLayout[],
) {
  const sections = new Map<ReadSentence | null, { exact: number; share: number }>()
  for (const [heading, below] of Map.groupBy(sentences, ({ index }) => layout[index]!.heading)) {
    const above = heading ? [heading] : headings ? [headings] : []
    const section = joinMatched([...above, ...below.filter(({ index }) => layout[index]!.isQuotable)])
    const share = createShares(evidence)([section])
    sections.set(heading, { exact: share.exact, share: sumOf(share) })
  }
  return sections
}

/** The shares of a sentence, its heading and the sentence before. */
function measureAround(
  evidence: QuestionEvidence,
  { passage, layout, sentence }: Pick<MeasuredSentence, 'passage' | 'layout' | 'sentence'>,
) {
  const measure = createShares(evidence)
  const own = measure([sentence])
  const { heading } = layout[sentence.index]!
  const { row } = sentence
  const above = measure(row ? row.header : heading ? [heading] : passage.headings ? [passage.headings] : [])
  const previous = passage.sentences[sentence.index - 1]
  const isBelow =
    !row && previous?.row === null && layout[previous.index]!.isQuotable && layout[previous.index]!.heading === heading
  const head = measure([passage.head])
  const before = measure(isBelow ? [previous] : [])
  const damping = 1 + Math.log1p(sentence.length) / lengthDamping
  const distance = row ? 0 : sentence.index - (heading ? heading.index + 1 : 0)
  return {
    own: own.exact / damping,
    ownRelated: own.related / damping,
    before: sumOf(before),
    head: sumOf(head),
    above: sumOf(above),
    near: sumOf(own) + sumOf(above),
    distance: Math.min(distance, countedRanks),
  }
}

const lead = /[:：][\s*_]{0,3}$/u
const pointer =
  /(?<![\p{L}\p{N}])(?:see|read|learn|more information|find out|refer to|take a look|here (?:is|are)|guidelines?|siehe|mehr (?:dazu|informationen))(?![\p{L}\p{N}])/iu

/** What a sentence shows about being an answer. */
function readSigns({ question }: QuestionEvidence, { text, length, hasCandidate, forms, row }: ReadSentence) {
  const candidate = hasCandidate === null ? 0 : hasCandidate ? 1 : -1
  return {
    candidate,
    number: question.type === 'number' ? candidate : 0,
    forms: question.forms.length === 0 ? 0 : forms.length / question.forms.length,
    length: Math.log1p(length),
    isShort: length < shortWords ? 1 : 0,
    isItem: isListItem(text) ? 1 : 0,
    isLead: lead.test(text) ? 1 : 0,
    isPointer: pointer.test(text) ? 1 : 0,
    isRow: row ? 1 : 0,
  }
}

/** The weight of the rarest word of the question that a text has. */
function keyOf({ weights, relatedWeights }: QuestionEvidence, matched: Matched | null): number {
  let most = 0
  if (matched === null) return most
  for (const word of matched.words) most = Math.max(most, weights.get(word) ?? 0)
  for (const [word, strength] of matched.related) most = Math.max(most, strength * (relatedWeights.get(word) ?? 0))
  return most
}

interface Share {
  exact: number
  related: number
}

const sumOf = ({ exact, related }: Share) => exact + related

/**
 * Measures which share of the question texts have beyond those measured before: as its words, and as words of that meaning. Each word of the
 * question counts once.
 */
function createShares({ question, weights, relatedWeights }: QuestionEvidence) {
  const total = weightOf(question.words.keys(), weights) || 1
  /** How much of a wanted word the texts have, 0..1. */
  const strengths = new Map<string, number>()
  return (texts: readonly Matched[]): Share => {
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

function weightOf(words: Iterable<string>, weights: ReadonlyMap<string, number>): number {
  let sum = 0
  for (const word of words) sum += weights.get(word) ?? 0
  return sum
}

/**
 * What the score is made of, for the passage that has most of the question. Shares are of the total weight of the question's words, where
 * rare words weigh more; the first three are what the passage has beyond the average of the other passages.
 */
export interface AnswerFeatures {
  /** Share of the sentence that has most. */
  sentence: number
  /** Share of the two neighbouring sentences that have most. */
  pair: number
  /** Share of the passage, where a word counts n / (n + 1) for n sentences that have it. */
  repeated: number
  /** Share of the passage's title. */
  title: number
  /** Share of the title's words that the question has. */
  titleUsed: number
  /** Natural logarithm of the number of words in the passage, at least 1. */
  length: number
  /** Natural logarithm of the number of different topic words in the question, at least 1. */
  questionLength: number
}

const compared = ['sentence', 'pair', 'repeated'] as const
/** The average of the other passages counts at most this much, so that equal passages keep a score. */
const maximumBackground = 0.9

/** Null without passages. Time is linear in the words of the evidence. */
export function measureEvidence(evidence: QuestionEvidence): AnswerFeatures | null {
  const measured = evidence.passages.map((passage) => measurePassage(evidence, passage))
  const [first] = measured
  if (first === undefined) return null
  let best = first
  for (const other of measured) if (other.pair + other.sentence > best.pair + best.sentence) best = other
  const lifted = { ...best }
  for (const name of compared) {
    const others = measured.reduce((sum, features) => sum + features[name], -best[name])
    const background = Math.min(maximumBackground, others / Math.max(1, measured.length - 1))
    lifted[name] = Math.max(0, (best[name] - background) / (1 - background))
  }
  return lifted
}

/**
 * How likely it is, 0..1, that the passages hold the answer, judged by words without a model: a logistic regression on `measureEvidence`.
 * 0 without passages.
 */
export function scoreAnswerability(evidence: QuestionEvidence): number {
  const features = measureEvidence(evidence)
  if (features === null) return 0
  let sum = intercept
  for (const [name, weight] of Object.entries(coefficients)) sum += weight * features[name as keyof AnswerFeatures]
  return 1 / (1 + Math.exp(-sum))
}

function measurePassage({ question, weights }: QuestionEvidence, passage: ReadPassage): AnswerFeatures {
  const total = weightOf(question.words.keys(), weights) || 1
  const share = (words: Iterable<string>) => weightOf(words, weights) / total
  let sentence = 0
  let pair = 0
  let length = 0
  const counts = new Map<string, number>()
  for (const [index, { words, length: sentenceLength }] of passage.sentences.entries()) {
    const next = passage.sentences[index + 1]?.words ?? new Set<string>()
    sentence = Math.max(sentence, share(words))
    pair = Math.max(pair, share(new Set([...words, ...next])))
    length += sentenceLength
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  let repeated = 0
  for (const [word, count] of counts) repeated += ((weights.get(word) ?? 0) / total) * (count / (count + 1))
  const { title } = passage
  const wantedTitle = [...title].filter((word) => question.words.has(word))
  return {
    sentence,
    pair,
    repeated,
    title: share(wantedTitle),
    titleUsed: title.size === 0 ? 0 : wantedTitle.length / title.size,
    length: Math.log(Math.max(1, length)),
    questionLength: Math.log(Math.max(1, question.words.size)),
  }
}

/*
 * Fitted by `bin/run eval/fit-answerability.ts` on a random half of the questions of `answerability` and `retrieval/xquad-*`.
 */
const intercept = -0.422
const coefficients: Record<keyof AnswerFeatures, number> = {
  sentence: 2.568,
  pair: 3.821,
  repeated: 6.994,
  title: -5,
  titleUsed: 0.345,
  length: -0.936,
  questionLength: 1.034,
}
