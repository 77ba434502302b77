/**
 * Fits the weights of src/platform/evidence/measure-evidence.ts.
 *
 *   bin/run eval/fit-quotes.ts FOLDER …
 *
 * Each FOLDER holds handbooks and questions in the format of `handbooks` of the shared data. The probability of a sentence is a softmax over
 * all sentences of the passages of a question; the sum of those that hold the answer is maximised by gradient ascent, with a ridge. Prints the
 * weights, and for each handbook the share of its questions that the first quote and any quote answers: with the weights of the code, and fitted
 * on the other handbooks.
 */
import {
  measureSentences,
  type QuestionEvidence,
  rankSentences,
  readPassages,
  sentenceWeights,
} from '../src/platform/evidence/index.ts'
import { preparePassages, readSources, withoutFormatting } from '../src/gateway/providers/offline/offline-provider.ts'
import { createBoundary, fencePassages } from '../src/chat/chat/context/prompt.ts'
import { askHandbooks, plain } from './handbooks.ts'

interface Example {
  handbook: string
  evidence: QuestionEvidence
  holds: (text: string) => boolean
  rows: number[][]
  answers: boolean[]
}

const ridge = 8
const steps = 120
const names = Object.keys(sentenceWeights) as (keyof typeof sentenceWeights)[]

const examples: Example[] = []
for (const folder of process.argv.slice(2)) {
  for (const { question, passages } of await askHandbooks(folder)) {
    if (!question.answerable) continue
    const sources = readSources(fencePassages(passages, createBoundary()))
    const evidence = await readPassages(question.question, preparePassages(sources))
    const measured = measureSentences(evidence)
    const holds = (text: string) => question.gold!.some((words) => plain(text).includes(plain(words)))
    examples.push({
      handbook: question.handbook,
      evidence,
      holds,
      rows: measured.map(({ features }) => names.map((name) => features[name])),
      answers: measured.map(({ sentence }) => holds(sentence.text)),
    })
  }
}
const round = (weights: readonly number[]) =>
  Object.fromEntries(names.map((name, at) => [name, Number(weights[at]!.toFixed(3))])) as typeof sentenceWeights
console.log(round(fit(examples)))
for (const [handbook, asked] of Map.groupBy(examples, (example) => example.handbook)) {
  const others = fit(examples.filter((example) => example.handbook !== handbook))
  console.log(handbook, asked.length, measure(asked, sentenceWeights), measure(asked, round(others)))
}

function measure(asked: readonly Example[], weights: typeof sentenceWeights) {
  const quoted = asked.map(({ evidence, holds }) =>
    rankSentences(evidence, weights).map(({ sentences }) => holds(withoutFormatting(sentences.join(' ')))),
  )
  const share = (test: (holding: readonly boolean[]) => boolean) =>
    Number((quoted.filter(test).length / asked.length).toFixed(3))
  return { first: share(([first]) => first === true), any: share((holding) => holding.includes(true)) }
}

function dot(row: readonly number[], weights: readonly number[]): number {
  return row.reduce((sum, value, at) => sum + value * weights[at]!, 0)
}

/** Adam on features of the deviation 1. */
function fit(all: readonly Example[]): number[] {
  const used = all.filter(({ answers }) => answers.includes(true))
  const rows = used.flatMap((example) => example.rows)
  const deviations = names.map((_, at) => {
    const mean = rows.reduce((sum, row) => sum + row[at]!, 0) / rows.length
    return Math.sqrt(rows.reduce((sum, row) => sum + (row[at]! - mean) ** 2, 0) / rows.length) || 1
  })
  const scaled = used.map((one) => ({
    ...one,
    rows: one.rows.map((row) => row.map((value, at) => value / deviations[at]!)),
  }))
  const weights = names.map(() => 0)
  const speed = names.map(() => 0)
  const square = names.map(() => 0)
  for (let step = 1; step <= steps; step++) {
    const gradient = weights.map((value) => -ridge * value)
    for (const example of scaled) addGradient(example, weights, gradient)
    for (const [at, slope] of gradient.entries()) {
      speed[at] = 0.9 * speed[at]! + 0.1 * slope
      square[at] = 0.99 * square[at]! + 0.01 * slope * slope
      const rate = step > steps / 2 ? 0.03 : 0.1
      weights[at]! += (rate * (speed[at] / (1 - 0.9 ** step))) / (Math.sqrt(square[at] / (1 - 0.99 ** step)) + 1e-8)
    }
  }
  return weights.map((value, at) => value / deviations[at]!)
}

/** Adds the gradient of the logarithm of the probability that an answering sentence is chosen. */
function addGradient({ rows, answers }: Example, weights: readonly number[], gradient: number[]) {
  const scores = rows.map((row) => dot(row, weights))
  const most = Math.max(...scores)
  const odds = scores.map((score) => Math.exp(score - most))
  const all = odds.reduce((sum, value) => sum + value, 0)
  const right = odds.reduce((sum, value, at) => sum + (answers[at] ? value : 0), 0)
  for (const [index, row] of rows.entries()) {
    const change = (answers[index] ? odds[index]! / right : 0) - odds[index]! / all
    for (const [at, value] of row.entries()) gradient[at]! += change * value
  }
}
