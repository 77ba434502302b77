import { weightOf } from './measure-sentences.ts'
import type { QuestionEvidence, ReadPassage } from './read-passages.ts'

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
