import { refersBack } from './back-references.ts'
import type { QuestionEvidence, ReadPassage, ReadSentence } from './read-passages.ts'

/** What one quote of an answer holds: a sentence of a passage, and a neighbour where it needs one. */
export interface RankedSentence {
  /** The passage's number. */
  id: number
  /** One or two sentences in the order of the passage, at most `maximumQuoteUnits`. */
  text: string
}

/** Quotes in one answer: enough for a fact and its context. */
const maximumQuotes = 3
/** A sentence with a lower share of the best score is omitted. */
const worthwhileShare = 0.6
/** Longest quote with a neighbour, UTF-16 units. */
const maximumQuoteUnits = 400
/** A sentence with this share of what all passages have of the question needs no neighbour that only follows it. */
const completeShare = 0.8

/*
 * The weights below were compared on the questions of three languages (German, Vietnamese, Chinese) in a few round
 * steps, none held back. Neighbouring values change the result by less than a point.
 */
/** Long sentences contain more words by chance; larger values damp them less. */
const lengthDamping = 8
/** Weight of the question's words in the whole passage. */
const passageWeight = 0.3
/** Added where the sentence has words of the expected kind (a date, a name), subtracted where it lacks them; share of the question. */
const candidateWeight = 0.05
/** Subtracted for each rank of the passage in the search, for the first ranks; share of the question. */
const rankWeight = 0.03
const countedRanks = 10

interface Scored {
  passage: ReadPassage
  sentence: ReadSentence
  score: number
}

/**
 * The sentences that most likely answer, best first: shared words by rarity, in the sentence and in its passage, the expected kind of
 * answer, and the passage's rank. A neighbour is added where the sentence refers back to it, or where it has what the sentence
 * lacks. Empty if no word is shared.
 */
export function rankSentences(evidence: QuestionEvidence): RankedSentence[] {
  const scored = scoreSentences(evidence)
  const best = scored[0]?.score ?? 0
  const completeWeight =
    completeShare * weightOf(new Set(evidence.passages.flatMap(({ words }) => [...words])), evidence.weights)
  const quotes: RankedSentence[] = []
  const used = new Set<ReadSentence>()
  const texts = new Set<string>()
  for (const { passage, sentence, score } of scored) {
    if (quotes.length === maximumQuotes || score < best * worthwhileShare) break
    if (used.has(sentence) || texts.has(sentence.text)) continue
    const quoted = withNeighbour(evidence, passage, sentence, completeWeight)
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
    const ofPassage =
      passageWeight * weightOf(passage.words, weights) - rankWeight * total * Math.min(rank, countedRanks)
    for (const sentence of passage.sentences) {
      if (sentence.words.size === 0) continue
      const own = weightOf(sentence.words, weights) / (1 + Math.log1p(sentence.length) / lengthDamping)
      const sign = sentence.hasCandidate === null ? 0 : sentence.hasCandidate ? 1 : -1
      scored.push({ passage, sentence, score: own + ofPassage + sign * candidateWeight * total })
    }
  }
  return scored.sort((left, right) => right.score - left.score)
}

export function weightOf(words: Iterable<string>, weights: ReadonlyMap<string, number>): number {
  let sum = 0
  for (const word of words) sum += weights.get(word) ?? 0
  return sum
}

/** A neighbour must add this share of the question's weight to be preferred to the next sentence. */
const minimumAdded = 0.05

/** The sentence, and the neighbour that fits and helps most, in the order of the passage. */
function withNeighbour(
  { question, weights }: QuestionEvidence,
  { sentences }: ReadPassage,
  sentence: ReadSentence,
  completeWeight: number,
): ReadSentence[] {
  const previous = sentences[sentence.index - 1]
  const next = sentences[sentence.index + 1]
  const total = weightOf(question.words.keys(), weights)
  const added = (neighbour: ReadSentence) =>
    weightOf(
      [...neighbour.words].filter((word) => !sentence.words.has(word)),
      weights,
    )
  const isComplete = weightOf(sentence.words, weights) >= completeWeight
  const byAdded = [next, previous]
    .filter((neighbour) => neighbour !== undefined)
    .filter((neighbour) => added(neighbour) > minimumAdded * total)
    .sort((left, right) => added(right) - added(left))
  const wanted = [
    ...(sentence.hasCandidate === false ? [next, previous].filter((neighbour) => neighbour?.hasCandidate) : []),
    ...byAdded,
    ...(refersBack(sentence.text) ? [previous] : []),
    ...(next !== undefined && refersBack(next.text) && !isComplete ? [next] : []),
    ...(isComplete ? [] : [next, previous]),
  ]
  const fits = (neighbour: ReadSentence) => neighbour.text.length + sentence.text.length < maximumQuoteUnits
  const chosen = wanted.find((neighbour) => neighbour !== undefined && fits(neighbour))
  if (chosen === undefined) return [sentence]
  return chosen === previous ? [chosen, sentence] : [sentence, chosen]
}
