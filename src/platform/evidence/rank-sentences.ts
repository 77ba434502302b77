import { refersBack } from './back-references.ts'
import { isListItem, readLayout, type SentenceLayout } from './sentence-layout.ts'
import type { QuestionEvidence, ReadPassage, ReadSentence } from './read-passages.ts'

/** What one quote of an answer holds: a sentence of a passage, and a neighbour where it needs one. */
export interface RankedSentence {
  /** The passage's number. */
  id: number
  /** Neighbouring sentences in the order of the passage, at most `maximumQuoteUnits`. */
  text: string
}

/** Quotes in one answer: enough for a fact and its context. */
const maximumQuotes = 4
/** A sentence with a lower share of the best score is omitted. */
const worthwhileShare = 0.6
/** Longest quote with a neighbour, UTF-16 units. */
const maximumQuoteUnits = 400

/*
 * The weights below were compared on the questions of three languages (German, Vietnamese, Chinese) in a few round
 * steps, none held back. Neighbouring values change the result by less than a point.
 */
/** Long sentences contain more words by chance; larger values damp them less. */
const lengthDamping = 8
/** Weight of the question's words in the whole passage. */
const passageWeight = 0.3
/** Added where the sentence has words of the expected kind (a date, a name), subtracted where it lacks them; share of the question. */
const candidateWeight = 0.1
/** Subtracted for each rank of the passage in the search, for the first ranks; share of the question. */
const rankWeight = 0.03
const countedRanks = 10

/** A sentence with this share of what all passages have of the question needs no neighbour that only follows it. */
const completeShare = 0.8
/** Weight of the question's words in the heading above a sentence, and how much of it the next sentence keeps. */
const headingWeight = 0.8
const headingFade = 0.9

interface Scored {
  passage: ReadPassage
  layout: readonly SentenceLayout[]
  sentence: ReadSentence
  score: number
}

/**
 * The sentences that most likely answer, best first: shared words by rarity, in the sentence, in its heading and in its passage, the expected kind
 * of answer, and the passage's rank. Headings and questions are not quoted. Neighbours are added where the sentence refers back to
 * them, or continues in a list, or where it has not all that the passages have of the question. Empty if no word is shared.
 */
export function rankSentences(evidence: QuestionEvidence): RankedSentence[] {
  const scored = scoreSentences(evidence)
  const best = scored[0]?.score ?? 0
  const completeWeight =
    completeShare * weightOf(new Set(evidence.passages.flatMap(({ words }) => [...words])), evidence.weights)
  const quotes: RankedSentence[] = []
  const used = new Set<ReadSentence>()
  const texts = new Set<string>()
  for (const { passage, layout, sentence, score } of scored) {
    if (quotes.length === maximumQuotes || score < best * worthwhileShare) break
    if (used.has(sentence) || texts.has(sentence.text)) continue
    const quoted = withNeighbours(passage, layout, sentence, {
      used,
      isComplete: weightOf(sentence.words, evidence.weights) >= completeWeight,
    })
    for (const part of quoted) {
      used.add(part)
      texts.add(part.text)
    }
    quotes.push({ id: passage.id, text: quoted.map(({ text }) => text).join(' ') })
  }
  return quotes
}

function scoreSentences({ question, passages, weights }: QuestionEvidence): Scored[] {
  const total = weightOf(question.words.keys(), weights)
  const scored: Scored[] = []
  for (const [rank, passage] of passages.entries()) {
    const layout = readLayout(passage.sentences)
    const ofPassage =
      passageWeight * weightOf(passage.words, weights) - rankWeight * total * Math.min(rank, countedRanks)
    for (const sentence of passage.sentences) {
      const { isQuotable, heading } = layout[sentence.index]!
      if (!isQuotable || (sentence.words.size === 0 && (heading === null || heading.words.size === 0))) continue
      const own = weightOf(sentence.words, weights) / (1 + Math.log1p(sentence.length) / lengthDamping)
      const sign = sentence.hasCandidate === null ? 0 : sentence.hasCandidate ? 1 : -1
      const score = own + ofHeading(sentence, heading, weights) + ofPassage + sign * candidateWeight * total
      scored.push({ passage, layout, sentence, score })
    }
  }
  return scored.sort((left, right) => right.score - left.score)
}

/** What the heading has of the question beyond the sentence. */
function ofHeading(sentence: ReadSentence, heading: ReadSentence | null, weights: ReadonlyMap<string, number>): number {
  if (heading === null) return 0
  const added = [...heading.words].filter((word) => !sentence.words.has(word))
  return headingWeight * headingFade ** (sentence.index - heading.index - 1) * weightOf(added, weights)
}

export function weightOf(words: Iterable<string>, weights: ReadonlyMap<string, number>): number {
  let sum = 0
  for (const word of words) sum += weights.get(word) ?? 0
  return sum
}

/**
 * The sentence, the one before it where it refers back, and what follows below the same heading, as far as it fits: an answer continues more
 * often than it ends with its first sentence.
 */
function withNeighbours(
  { sentences }: ReadPassage,
  layout: readonly SentenceLayout[],
  sentence: ReadSentence,
  { used, isComplete }: { used: ReadonlySet<ReadSentence>; isComplete: boolean },
): ReadSentence[] {
  const quoted = [sentence]
  let units = sentence.text.length
  const isFitting = (neighbour: ReadSentence | undefined): neighbour is ReadSentence =>
    neighbour !== undefined &&
    !used.has(neighbour) &&
    layout[neighbour.index]!.isQuotable &&
    layout[neighbour.index]!.heading === layout[sentence.index]!.heading &&
    units + neighbour.text.length < maximumQuoteUnits
  const isContinued = (from: ReadSentence) => isListItem(from.text) || refersBack(from.text)
  for (let first = sentence; isContinued(first);) {
    const previous = sentences[first.index - 1]
    if (!isFitting(previous)) break
    quoted.unshift(previous)
    units += previous.text.length
    first = previous
  }
  const isAnsweredNext = sentence.hasCandidate === false && sentences[sentence.index + 1]?.hasCandidate === true
  if (isComplete && !isAnsweredNext && !isListItem(sentence.text)) return quoted
  for (let next = sentences[sentence.index + 1]; isFitting(next); next = sentences[next.index + 1]) {
    quoted.push(next)
    units += next.text.length
  }
  return quoted
}
